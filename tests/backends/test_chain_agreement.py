"""Chains of element-wise steps: the fast kernel against one step after another."""

import numpy as np
import pytest

from cvzoo.backends.numpy.backend import NumpyBackend
from cvzoo.backends.onednn.backend import OneDNNBackend
from cvzoo.backends.onednn.library import why_no_onednn
from cvzoo.backends.onednn.primitives import local

pytestmark = pytest.mark.skipif(why_no_onednn() is not None, reason=f"no oneDNN: {why_no_onednn()}")

REFERENCE, FAST = NumpyBackend(), OneDNNBackend()
RELU, SWISH = ("relu", 0.0, 0.0), ("swish", 1.0, 0.0)


def draw(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def photo(*shape, seed=0):
    return REFERENCE.channels_last(draw(*shape, seed=seed))


X, Y, V, S = photo(2, 24, 30, 31), photo(2, 24, 30, 31, seed=1), draw(1, 24, 1, 1, seed=2), draw(2, 24, 1, 1, seed=3)
CASES = {
    "normalization": (X, [("multiply",), ("add",), RELU], [V, draw(1, 24, 1, 1, seed=4)]),
    "constants": (X, [("linear", 2.0, -1.0), ("tanh", 0.0, 0.0)], []),
    "gate": (X, [("sigmoid", 0.0, 0.0), ("multiply",)], [Y]),
    "all four": (X, [("add",), ("subtract",), ("multiply",), ("divide",)], [Y, V, Y, np.abs(V) + 1]),
    "squeezed": (X, [("multiply",), SWISH], [S]),
    "c order": (draw(2, 24, 30, 31), [("multiply",), ("add",)], [V, V]),
    "other order": (X, [("add",), RELU], [draw(2, 24, 30, 31, seed=5)]),
    "matrix": (draw(40, 500), [("multiply",), RELU, ("add",)], [draw(1, 500, seed=6), draw(40, 1, seed=7)]),
    "few": (draw(7), [("add",), RELU], [draw(7, seed=8)]),
    "nothing": (draw(0, 3), [("add",), RELU], [draw(0, 3)]),
    "sliced": (X[:, 1:, 2:], [("add",), RELU], [Y[:, 1:, 2:]]),
    "float64": (X.astype(np.float64), [("add",), RELU], [Y.astype(np.float64)]),
}


@pytest.mark.parametrize("case", CASES)
def test_chains_agree(case):
    x, steps, others = CASES[case]
    expected = REFERENCE.chain(x, steps, others)
    y = FAST.chain(x, steps, others)
    assert y.shape == expected.shape
    assert y.dtype == expected.dtype
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max(initial=1e-30))


@pytest.mark.parametrize("case", ["normalization", "constants", "gate", "all four", "c order"])
def test_a_chain_is_one_primitive(case):
    x, steps, others = CASES[case]
    calls = []
    local.recorder = lambda primitive, arrays: calls.append(primitive)
    try:
        y = FAST.chain(x, steps, others)
    finally:
        local.recorder = None
    assert len(calls) == 1
    assert y.strides == x.strides
