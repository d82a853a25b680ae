"""Copies that oneDNN makes, and whether one is needed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.backends.onednn.library import why_no_onednn
from cvzoo.backends.onednn.memory import _is_view, reshaped
from cvzoo.backends.onednn.primitives import local

pytestmark = pytest.mark.skipif(why_no_onednn() is not None, reason=f"no oneDNN: {why_no_onednn()}")


@st.composite
def arrays_and_shapes(draw):
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    gaps = draw(st.lists(st.integers(0, 1), min_size=len(sizes), max_size=len(sizes)))
    order = draw(st.permutations(range(len(sizes))))
    whole = np.arange(np.prod([n + gap for n, gap in zip(sizes, gaps)]), dtype=np.float32)
    x = whole.reshape([n + gap for n, gap in zip(sizes, gaps)])[tuple([slice(n) for n in sizes])].transpose(order)
    rest, shape = x.size, []
    while rest > 1:
        divisor = draw(st.sampled_from([n for n in range(2, rest + 1) if rest % n == 0]))
        shape += [divisor] + [1] * draw(st.integers(0, 1))
        rest //= divisor
    return x, shape


@given(arrays_and_shapes())
def test_whether_a_view_is_possible_is_known_without_trying(case):
    x, shape = case
    assert _is_view(x.shape, x.strides, shape) == np.shares_memory(x, x.reshape(shape))


CASES = [
    ((1, 8, 7, 8, 7, 96), (0, 1, 3, 2, 4, 5), (1, 64, 49, 96)),
    ((2, 14, 14, 2, 58), (0, 1, 2, 4, 3), (2, 14, 14, 116)),
    ((1, 12, 197, 64), (0, 2, 1, 3), (1, 197, -1)),
    ((64, 600), (1, 0), (-1,)),
]


@pytest.mark.parametrize(("size", "order", "shape"), CASES)
def test_a_copy_holds_the_values_in_row_major_order(size, order, shape):
    x = np.arange(np.prod(size), dtype=np.float32).reshape(size).transpose(order)
    calls = []
    local.recorder = lambda primitive, arrays: calls.append(primitive)
    try:
        y = reshaped(x, shape)
    finally:
        local.recorder = None
    assert len(calls) == 1
    assert y.flags.c_contiguous
    np.testing.assert_array_equal(y, x.reshape(shape))


@pytest.mark.parametrize(
    "x",
    [
        np.zeros((0, 3), np.float32).T,
        np.ones((200, 300)).T,
        np.broadcast_to(np.float32(3), (200, 300)),
        np.arange(60000, dtype=np.float32).reshape(200, 300)[::-1].T,
    ],
    ids=["empty", "float64", "repeated", "turned around"],
)
def test_what_oneDNN_does_not_read_is_left_to_numpy(x):
    np.testing.assert_array_equal(
        reshaped(x, (-1, 1)) if x.size else reshaped(x, (0,)), x.reshape((-1, 1) if x.size else (0,))
    )


def test_shapes_that_do_not_fit_are_numpys_to_refuse():
    x = np.zeros((200, 300), np.float32).T
    for shape in ((7, 7), (-1, 7), (-1, -1)):
        with pytest.raises(ValueError, match="reshape"):
            reshaped(x, shape)
