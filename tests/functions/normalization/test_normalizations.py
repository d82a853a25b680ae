"""Layer, group and local response normalization."""

import numpy as np
import pytest

from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.normalization.group_normalization import group_normalization
from cvzoo.functions.normalization.layer_normalization import layer_normalization
from cvzoo.functions.normalization.local_response_normalization import local_response_normalization

random = np.random.default_rng(0)
X = random.normal(1, 2, size=(2, 4, 3, 2))
GAMMA, BETA = random.normal(size=4), random.normal(size=4)


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (1, 4), (2, 1, 3, 4)], ids=str)
def test_layer_normalization(shape, backend):
    x = np.random.default_rng(0).normal(1, 2, size=shape)
    wanted = GAMMA * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) + BETA
    for dtype, tolerance in (("float64", 1e-9), ("float32", 1e-4)):
        y = layer_normalization(x.astype(dtype), GAMMA.astype(dtype), BETA.astype(dtype))
        np.testing.assert_allclose(y.array, wanted, rtol=tolerance, atol=tolerance)
        assert y.dtype == dtype
    check_backward(layer_normalization, (x, GAMMA, BETA))
    check_double_backward(layer_normalization, (x, GAMMA, BETA))


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_group_normalization(groups, backend):
    parts = X.reshape(2, groups, -1)
    normal = (parts - parts.mean(2, keepdims=True)) / np.sqrt(parts.var(2, keepdims=True) + 1e-5)
    wanted = normal.reshape(X.shape) * GAMMA[:, None, None] + BETA[:, None, None]
    y = group_normalization(X, groups, GAMMA, BETA)
    np.testing.assert_allclose(y.array, wanted, rtol=1e-6)
    lying = np.ascontiguousarray(X.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    np.testing.assert_allclose(group_normalization(lying, groups, GAMMA, BETA).array, wanted, rtol=1e-6)

    def run(x, gamma, beta):
        return group_normalization(x, groups, gamma, beta)

    check_backward(run, (X, GAMMA, BETA))
    check_double_backward(run, (X, GAMMA, BETA))


def test_group_normalization_keeps_small_differences_of_large_numbers(backend):
    x = (1000 + random.normal(size=(2, 4, 6, 5))).astype("f")
    parts = x.astype("d").reshape(2, 2, -1)
    wanted = (parts - parts.mean(2, keepdims=True)) / np.sqrt(parts.var(2, keepdims=True) + 1e-5)
    y = group_normalization(x, 2, np.ones(4, "f"), np.zeros(4, "f")).array
    np.testing.assert_allclose(y, wanted.reshape(x.shape), atol=2e-3)


def test_group_normalization_of_rows():
    x = random.normal(size=(3, 4))
    y = group_normalization(x, 2, GAMMA, BETA).array
    parts = x.reshape(3, 2, 2)
    normal = (parts - parts.mean(2, keepdims=True)) / np.sqrt(parts.var(2, keepdims=True) + 1e-5)
    np.testing.assert_allclose(y, normal.reshape(3, 4) * GAMMA + BETA, rtol=1e-6)


LRN = {"usual": (5, 2, 1e-4, 0.75), "strong": (3, 1, 0.5, 0.75), "even": (2, 1, 0.3, 0.5), "alone": (1, 2, 0.1, 1.0)}


@pytest.mark.parametrize("settings", LRN.values(), ids=LRN)
def test_local_response_normalization(settings, backend):
    n, k, alpha, beta = settings
    wanted = np.empty_like(X)
    for c in range(4):
        around = X[:, max(c - n // 2, 0) : c - n // 2 + n]
        wanted[:, c] = X[:, c] / (k + alpha * (around**2).sum(1)) ** beta
    for dtype, tolerance in (("float64", 1e-9), ("float32", 1e-5)):
        y = local_response_normalization(X.astype(dtype), *settings)
        np.testing.assert_allclose(y.array, wanted, rtol=tolerance, atol=tolerance)
    check_backward(lambda x: local_response_normalization(x, *settings), X)
    check_double_backward(lambda x: local_response_normalization(x, *settings), X)


def test_bad_calls_teach():
    with pytest.raises(ShapeError, match="4 channels cannot be split into 3 groups"):
        group_normalization(X, 3, GAMMA, BETA)
    with pytest.raises(ShapeError, match="gamma needs"):
        group_normalization(X, 2, GAMMA[:2], BETA)
    with pytest.raises(ShapeError, match=r"\(\.\.\., I\)"):
        layer_normalization(X, GAMMA, BETA)
    with pytest.raises(ValueRangeError, match="eps"):
        layer_normalization(X[:, :, 0, 0], GAMMA, BETA, eps=-1)
    with pytest.raises(DtypeError, match="floating"):
        layer_normalization(np.zeros((2, 4), int), GAMMA, BETA)
    with pytest.raises(ShapeError, match="4-D"):
        local_response_normalization(X[0])
    with pytest.raises(DtypeError, match="floating"):
        local_response_normalization(X.astype(int))
    with pytest.raises(ValueRangeError, match="positive"):
        local_response_normalization(X, n=0)
