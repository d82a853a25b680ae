"""Chains of element-wise steps: the fast kernel against one step after another."""

import itertools

import numpy as np
import pytest

from cvzoo.backends.numpy import backend as numpy_backend
from cvzoo.backends.onednn import backend as onednn_backend
from cvzoo.backends.onednn.library import why_no_onednn
from cvzoo.backends.onednn.primitives import local

pytestmark = pytest.mark.skipif(why_no_onednn() is not None, reason=f"no oneDNN: {why_no_onednn()}")

REFERENCE, FAST = numpy_backend, onednn_backend
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


def small_cases():
    """Shapes with many axes of size 1, and all shapes that broadcast with them."""
    for sizes in (((1, 2), (1, 4, 17), (1, 3), (1, 7)), ((1, 3), (1, 16), (1, 5)), ((1, 3), (1, 40)), ((1, 2),) * 5):
        for shape in itertools.product(*sizes):
            yield shape, sorted(set(itertools.product(*[{1, n} for n in shape])))


@pytest.mark.parametrize("order", ["c_order", "channels_last"])
def test_whatever_broadcasts_lands_where_it_should(order):
    generator = np.random.default_rng(0)

    def array(shape):
        x = generator.uniform(1, 2, shape).astype(np.float32)
        return REFERENCE.channels_last(x) if order == "channels_last" and len(shape) == 4 else x

    local.recorder = lambda primitive, arrays: None  # small arrays go to the library, too
    try:
        for shape, others in small_cases():
            x = array(shape)
            for one in others:
                b, c = array(one), array(others[generator.integers(len(others))])
                np.testing.assert_allclose(FAST.add(x, b), x + b, rtol=1e-5)
                np.testing.assert_allclose(FAST.multiply(b, x), x * b, rtol=1e-5)
                for steps, rest in (
                    ([("linear", 0.5, 0.0), ("add",)], [b]),
                    ([("multiply",), ("subtract",)], [b, c]),
                    ([("divide",), RELU, ("add",)], [b, c]),
                ):
                    expected = REFERENCE.chain(x, steps, rest)
                    np.testing.assert_allclose(FAST.chain(x, steps, rest), expected, rtol=1e-4, atol=1e-5)
    finally:
        local.recorder = None
