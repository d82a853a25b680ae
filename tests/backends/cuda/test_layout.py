"""Arrays that broadcast, seen as a few axes: the same elements are visited, in the order that lies best."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.backends.cuda.layout import as_dense, collapsed, dense_strides, element_strides, is_dense, like, order_of


@st.composite
def broadcasting(draw):
    """A few arrays that broadcast to one shape: permuted, sliced, flipped and repeated."""
    shape = draw(st.lists(st.integers(1, 4), min_size=0, max_size=5))
    arrays = []
    for k in range(draw(st.integers(1, 3))):
        own = [n if k == 0 or draw(st.booleans()) else 1 for n in shape]
        order = draw(st.permutations(range(len(own))))
        steps = [draw(st.sampled_from([1, 1, 2, -1])) for _ in own]
        base = np.arange(np.prod([own[i] * abs(steps[i]) for i in order], dtype=int), dtype="float32")
        base = base.reshape([own[i] * abs(steps[i]) for i in order])
        base = base[tuple([slice(None, None, steps[i]) for i in order])]
        arrays.append(base.transpose(np.argsort(order)) if own else base)
    return tuple(shape), arrays


@given(broadcasting())
def test_the_same_elements_are_visited_together(case):
    shape, arrays = case
    strides = tuple([element_strides(x, shape) for x in arrays])
    sizes, rows = collapsed(shape, strides)
    assert np.prod(sizes) == np.prod(shape, dtype=int)

    def visited(sizes, strides):
        """Where each array is read, place by place, from where its first element lies."""
        grid = np.indices(sizes).reshape(len(sizes), -1)
        return sorted(zip(*[(np.array(each)[:, None] * grid).sum(0).tolist() for each in strides]))

    assert visited(sizes, rows) == visited(shape or (1,), strides if shape else ((0,),) * len(arrays))


@given(broadcasting())
def test_a_new_array_lies_as_the_old_one_without_gaps(case):
    shape, (x, *_) = case
    y = like(np, x, x.dtype)
    assert y.shape == shape
    assert is_dense(y)
    assert order_of(shape, y.strides) == order_of(shape, x.strides) or 1 in shape or not shape
    wanted = tuple([stride * 4 for n, stride in zip(shape, dense_strides(shape, x.strides)) if n > 1])
    assert wanted == tuple([stride for n, stride in zip(shape, y.strides) if n > 1])
    np.testing.assert_array_equal(as_dense(np, x), x)


CASES = [
    # shape, strides of each array: sizes
    ((2, 8, 3, 5), [(120, 1, 40, 8), (120, 1, 40, 8)], (240,)),  # channels-last, all of it one run
    ((2, 8, 3, 5), [(120, 1, 40, 8), (0, 1, 0, 0)], (30, 8)),  # a number a channel
    ((2, 8, 3, 5), [(120, 1, 40, 8), (8, 1, 0, 0)], (2, 15, 8)),  # a number a channel and photo
    ((2, 8, 3, 5), [(120, 15, 5, 1), (0, 1, 0, 0)], (2, 8, 15)),  # row-major
    ((2, 8, 3, 5), [(120, 1, 40, 8), (0, 0, 0, 0)], (240,)),  # one number
    ((1, 1), [(1, 1)], (1,)),
    ((), [()], (1,)),
]


def test_what_lies_together_is_one_axis():
    for shape, strides, sizes in CASES:
        assert collapsed(shape, tuple([tuple(each) for each in strides]))[0] == sizes


def test_where_strides_say_nothing_photos_lie_channels_last():
    x = np.broadcast_to(np.float32(1), (2, 3, 4, 5))
    assert like(np, x, "float32").transpose(0, 2, 3, 1).flags.c_contiguous
    assert like(np, x[0], "float32").flags.c_contiguous


def test_what_has_gaps_or_repeats_is_copied():
    x = np.zeros((4, 6), "float32")
    assert as_dense(np, x.T) is not None
    assert is_dense(x.T)
    for gappy in (x[:, ::2], x[::-1], np.broadcast_to(x[:1], (4, 6))):
        assert not is_dense(gappy)
        assert is_dense(as_dense(np, gappy))
