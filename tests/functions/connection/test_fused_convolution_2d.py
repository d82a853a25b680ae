"""Convolution, sum and activation in one pass."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.parameter import Parameter
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError
from cvzoo.functions.connection.convolution_2d import fused_convolution_2d


def arrays(groups=1):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 4, 9, 7), "float32")
    W = rng.standard_normal((6, 4 // groups, 3, 3), "float32")
    return x, W, rng.standard_normal(6, "float32"), rng


@pytest.mark.parametrize("backend", ["numpy", "auto"])
@pytest.mark.parametrize(
    ("kind", "alpha", "beta", "function"),
    [
        (None, 0, 0, None),
        ("relu", 0, 0, F.relu),
        ("clip", 0, 6, F.relu6),
        ("swish", 1, 0, F.silu),
        ("sigmoid", 0, 0, F.sigmoid),
        ("hard_swish", 1 / 6, 0.5, F.hard_swish),
        ("hard_sigmoid", 1 / 6, 0.5, lambda x: F.hard_sigmoid(x, 1 / 6)),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
@pytest.mark.parametrize(
    "window",
    [{}, {"pad": 1}, {"stride": 2, "pad": (1, 0, 2, 1)}, {"dilate": 2, "pad": [2, 2]}, {"groups": 2, "pad": 1}],
)
def test_it_is_convolution_sum_and_activation(backend, kind, alpha, beta, function, window):
    x, W, b, rng = arrays(window.get("groups", 1))
    with using_config("backend", backend), no_backprop_mode():
        plain = F.convolution_2d(x, W, b, **window)
        add = rng.standard_normal(plain.shape, "float32")
        before = add.copy()
        fused = fused_convolution_2d(x, W, b, **window, add=add, activation=kind, alpha=alpha, beta=beta)
        expected = plain + add
        expected = expected if function is None else function(expected)
        np.testing.assert_allclose(fused.array, expected.array, atol=1e-4)
        np.testing.assert_array_equal(add, before)
        alone = fused_convolution_2d(x, W, **window)
        np.testing.assert_allclose(alone.array, F.convolution_2d(x, W, **window).array, atol=1e-4)


def test_a_parameter_that_changes_is_seen():
    x, W, _, _ = arrays()
    W = Parameter(W)
    with no_backprop_mode():
        first = fused_convolution_2d(x, W).array
        W.array *= 2
        np.testing.assert_allclose(fused_convolution_2d(x, W).array, 2 * first, rtol=1e-5)


def test_where_gradients_are_taken_it_refuses():
    x, W, _, _ = arrays()
    with pytest.raises(GraphError, match="no gradient"):
        fused_convolution_2d(x, W)


def test_wrong_arrays_are_told():
    x, W, b, _ = arrays()
    with no_backprop_mode():
        with pytest.raises(ShapeError, match="x and W"):
            fused_convolution_2d(x[:, :3], W)
        with pytest.raises(ShapeError, match="each filter"):
            fused_convolution_2d(x, W, b[:3])
        with pytest.raises(ShapeError, match="addend"):
            fused_convolution_2d(x, W, add=np.zeros((2, 6, 9, 7), np.float32))
        with pytest.raises(DtypeError, match="one dtype"):
            fused_convolution_2d(x, W.astype(np.float64))
        with pytest.raises(DtypeError, match="one dtype"):
            fused_convolution_2d(x, W, b.astype(np.float64))
