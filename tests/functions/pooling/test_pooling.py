"""All poolings against plain loops, and their derivatives."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.pooling.pooling_2d import (
    average_pooling_2d,
    global_average_pooling_2d,
    global_max_pooling_2d,
    max_pooling_2d,
    spatial_pyramid_pooling_2d,
)
from cvzoo.functions.pooling.unpooling_2d import unpooling_2d, upsampling_2d

# size, then ksize, stride, pad, cover_all
CASES = {
    "windows touch": ((6, 4), 2, None, 0, False),
    "windows overlap": ((7, 6), 3, 2, 1, False),
    "pixels left over": ((5, 7), 2, None, 0, False),
    "left-over pixels covered": ((5, 7), 2, None, 0, True),
    "not square": ((6, 7), (3, 2), (1, 3), (1, 0), True),
    "padded at the end only, as darknet does": ((5, 4), 2, 1, (0, 1, 0, 1), True),
    "a gap between windows": ((7, 7), 2, 3, 0, True),
    "a window as large as the photo": ((4, 3), (4, 3), None, 0, False),
    "a window larger than the photo": ((2, 2), 3, 2, 1, True),
    "one pixel": ((1, 1), 1, 1, 0, False),
}


def distinct(shape, seed=0):
    """Values that stay apart, so that no maximum changes under a small step."""
    n = int(np.prod(shape))
    return (np.random.default_rng(seed).permutation(n) * 0.1 - n * 0.05).reshape(shape)


def _pair(v):
    return (v, v) if isinstance(v, int) else v


def loops(x, ksize, stride, pad, cover_all, pick):
    """`pick(values, n_in_window)` of the pixels that each window sees."""
    kh, kw = _pair(ksize)
    sy, sx = _pair(ksize if stride is None else stride)
    pad = (pad,) * 4 if isinstance(pad, int) else pad if len(pad) == 4 else (pad[0], pad[0], pad[1], pad[1])
    h, w = x.shape[2:]

    def places(size, k, s, before, after):
        room = size + before + after - k
        return (-(-room // s) if cover_all else room // s) + 1

    oh, ow = places(h, kh, sy, pad[0], pad[1]), places(w, kw, sx, pad[2], pad[3])
    y = np.zeros(x.shape[:2] + (oh, ow), x.dtype)
    for i in range(oh):
        for j in range(ow):
            top, left = i * sy - pad[0], j * sx - pad[2]
            seen = x[:, :, max(top, 0) : max(top + kh, 0), max(left, 0) : max(left + kw, 0)]
            y[:, :, i, j] = pick(seen.reshape(*x.shape[:2], -1), kh * kw)
    return y


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES)
def test_max_pooling_is_what_the_loops_say(case, dtype, backend):
    size, *settings = CASES[case]
    x = distinct((2, 3, *size)).astype(dtype)
    for v in (x, Variable(x)):
        y, indices = max_pooling_2d(v, *settings, return_indices=True)
        wanted = loops(x, *settings, lambda seen, n: seen.max(-1))
        np.testing.assert_array_equal(y.array, wanted)
        np.testing.assert_array_equal(
            np.take_along_axis(x.reshape(2, 3, -1), indices.reshape(2, 3, -1), 2), wanted.reshape(2, 3, -1)
        )


@pytest.mark.parametrize("case", CASES)
def test_derivatives_of_max_pooling(case, backend):
    size, *settings = CASES[case]
    x = distinct((2, 2, *size))
    check_backward(lambda x: max_pooling_2d(x, *settings), x)
    check_double_backward(lambda x: max_pooling_2d(x, *settings), x)


def test_the_first_of_equal_maxima_gets_the_gradient(backend):
    x = Variable(np.ones((1, 1, 2, 2), "f"))
    max_pooling_2d(x, 2).backward()
    np.testing.assert_array_equal(x.grad[0, 0], [[1, 0], [0, 0]])


def test_a_window_of_nothing_but_padding_gives_minus_infinity_and_no_gradient(backend):
    x = Variable(distinct((1, 1, 3, 3)).astype("f"))
    y = max_pooling_2d(x, 1, 2, 1)
    assert y.shape == (1, 1, 3, 3)
    assert np.isneginf(y.array).sum() == 8
    assert y.array[0, 0, 1, 1] == x.array[0, 0, 1, 1]
    y.grad = np.ones_like(y.array)
    y.backward(enable_double_backprop=True)
    np.testing.assert_array_equal(x.grad[0, 0], [[0, 0, 0], [0, 1, 0], [0, 0, 0]])
    gy = Variable(np.ones((1, 1, 3, 3), "f"))
    y.grad_var = gy
    x.cleargrad()
    y.backward(enable_double_backprop=True)
    gx = x.grad_var
    gx.grad = np.full(gx.shape, 7, "f")
    gx.backward()
    np.testing.assert_array_equal(gy.grad[0, 0], [[0, 0, 0], [0, 7, 0], [0, 0, 0]])


@pytest.mark.parametrize("count_pad", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_average_pooling_is_what_the_loops_say(case, count_pad, backend):
    size, ksize, stride, pad, cover_all = CASES[case]
    x = distinct((2, 3, *size))
    for dtype, tolerance in (("float64", 1e-12), ("float32", 1e-5)):
        y = average_pooling_2d(x.astype(dtype), ksize, stride, pad, count_pad=count_pad, cover_all=cover_all)
        wanted = loops(
            x, ksize, stride, pad, cover_all, lambda seen, n: seen.sum(-1) / (n if count_pad else seen.shape[-1])
        )
        np.testing.assert_allclose(y.array, wanted, rtol=tolerance, atol=tolerance)
        assert y.dtype == dtype


@pytest.mark.parametrize("count_pad", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_derivatives_of_average_pooling(case, count_pad, backend):
    size, ksize, stride, pad, cover_all = CASES[case]

    def run(x):
        return average_pooling_2d(x, ksize, stride, pad, count_pad=count_pad, cover_all=cover_all)

    x = distinct((1, 2, *size))
    check_backward(run, x)
    check_double_backward(run, x)


def test_global_poolings_see_the_whole_plane(backend):
    x = distinct((2, 3, 4, 5))
    np.testing.assert_allclose(global_average_pooling_2d(x).array, x.mean((2, 3)))
    np.testing.assert_array_equal(global_max_pooling_2d(x).array, x.max((2, 3)))
    for f in (global_average_pooling_2d, global_max_pooling_2d):
        check_backward(f, x)
        check_double_backward(f, x)


@pytest.mark.parametrize("case", [c for c in CASES if c != "a window larger than the photo"])
def test_unpooling_spreads_what_average_pooling_gathers(case, backend):
    size, ksize, stride, pad, cover_all = CASES[case]
    x = distinct((2, 2, *size))
    y = average_pooling_2d(x, ksize, stride, pad, cover_all=cover_all).array
    gy = distinct(y.shape, seed=1)
    back = unpooling_2d(gy, ksize, stride, pad, outsize=size, cover_all=cover_all)
    assert back.shape == x.shape
    kh, kw = _pair(ksize)
    np.testing.assert_allclose((back.array * x).sum(), (gy * y).sum() * kh * kw, rtol=1e-9)

    def run(v):
        return unpooling_2d(v, ksize, stride, pad, outsize=size, cover_all=cover_all)

    check_backward(run, gy)
    check_double_backward(run, gy)


def test_unpooling_copies_each_pixel_to_its_window(backend):
    x = np.array([[[[1.0, 2.0]]]])
    np.testing.assert_array_equal(unpooling_2d(x, 2, cover_all=False).array[0, 0], [[1, 1, 2, 2], [1, 1, 2, 2]])
    assert unpooling_2d(x, 2).shape == (1, 1, 1, 3)  # the last place may have covered left-over pixels
    with pytest.raises(ShapeError, match="would not give x's size"):
        unpooling_2d(x, 2, outsize=(2, 7))


@pytest.mark.parametrize("case", CASES)
def test_upsampling_puts_maxima_back(case, backend):
    size, *settings = CASES[case]
    x = distinct((2, 2, *size))
    y, indices = max_pooling_2d(x, *settings, return_indices=True)
    back = upsampling_2d(y, indices, *settings[:3], outsize=size).array
    planes = np.zeros((2, 2, size[0] * size[1]))
    for b, c, i, j in np.ndindex(y.shape):
        planes[b, c, indices[b, c, i, j]] += y.array[b, c, i, j]
    np.testing.assert_allclose(back.reshape(planes.shape), planes)
    run = lambda v: upsampling_2d(v, indices, *settings[:3], outsize=size)  # noqa: E731
    check_backward(run, y.array)
    check_double_backward(run, y.array)


def test_upsampling_without_outsize_takes_the_pooling_s_own():
    x = distinct((1, 1, 4, 6))
    y, indices = max_pooling_2d(x, 2, return_indices=True)
    assert upsampling_2d(y, indices, 2).shape == x.shape


def test_pyramid_levels_follow_each_other(backend):
    x = distinct((2, 3, 7, 8))
    y = spatial_pyramid_pooling_2d(x, 3)
    assert y.shape == (2, 3 * (1 + 4 + 16), 1, 1)
    np.testing.assert_array_equal(y.array[:, :3, 0, 0], x.max((2, 3)))
    # 7 rows in 2 windows of 4: the padding's one row goes to the end
    quarter = y.array[:, 3:15, 0, 0].reshape(2, 3, 2, 2)
    np.testing.assert_array_equal(quarter[:, :, 0, 0], x[:, :, :4, :4].max((2, 3)))
    np.testing.assert_array_equal(quarter[:, :, 1, 1], x[:, :, 4:, 4:].max((2, 3)))
    check_backward(lambda x: spatial_pyramid_pooling_2d(x, 2), x)
    check_double_backward(lambda x: spatial_pyramid_pooling_2d(x, 2), x)
    with pytest.raises(ShapeError, match="4 windows do not share out"):
        spatial_pyramid_pooling_2d(np.zeros((1, 1, 5, 5)), 3)
    with pytest.raises(ValueRangeError, match="pyramid_height"):
        spatial_pyramid_pooling_2d(x, 0)


POOLINGS = [max_pooling_2d, average_pooling_2d]


@pytest.mark.parametrize("pool", POOLINGS)
def test_bad_calls_teach(pool):
    x = np.zeros((1, 1, 4, 4))
    with pytest.raises(ShapeError, match=r"x\[None\]"):
        pool(x[0], 2)
    with pytest.raises(ShapeError, match="does not fit"):
        pool(x, 5, 1)
    with pytest.raises(DtypeError, match="floating"):
        pool(x.astype("uint8"), 2)
    with pytest.raises(DtypeError, match="ksize"):
        pool(x, "2")
    with pytest.raises(ValueRangeError, match="at least 1"):
        pool(x, 2, 0)
    with pytest.raises(ValueRangeError, match="negative"):
        pool(x, 2, 1, -1)
    with pytest.raises(DtypeError):
        pool([[[[1.0]]]], 1)


@pytest.mark.parametrize("pool", POOLINGS)
def test_lists_no_photos_and_turned_memory(pool, backend):
    x = distinct((2, 3, 4, 6)).astype("f")
    wanted = pool(x, (2, 2)).array
    np.testing.assert_allclose(pool(x, [2, 2]).array, wanted)
    turned = np.ascontiguousarray(x.transpose(2, 0, 3, 1)).transpose(1, 3, 0, 2)
    np.testing.assert_allclose(pool(turned, 2).array, wanted)
    assert wanted.transpose(0, 2, 3, 1).flags.c_contiguous
    empty = Variable(np.zeros((0, 3, 4, 6), "f"))
    y = pool(empty, 2)
    assert y.shape == (0, 3, 2, 3)
    y.grad = np.zeros_like(y.array)
    y.backward()
    assert empty.grad.shape == empty.shape


def test_upsampling_refuses_what_does_not_fit():
    x = np.zeros((1, 1, 2, 2))
    with pytest.raises(ShapeError, match="one shape"):
        upsampling_2d(x, np.zeros((1, 1, 2, 3), int), 2)
    with pytest.raises(DtypeError, match="integers"):
        upsampling_2d(x, x, 2)
    with pytest.raises(ValueRangeError, match="outside of the plane"):
        upsampling_2d(x, np.full((1, 1, 2, 2), 16), 2)


small = st.integers(1, 3)


@given(
    size=st.tuples(st.integers(3, 9), st.integers(3, 9)),
    ksize=st.tuples(small, small),
    stride=st.tuples(small, small),
    room=st.tuples(*[st.integers(0, 2)] * 4),
    channels=st.sampled_from([1, 3, 16]),
    cover_all=st.booleans(),
)
@settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_geometry(size, ksize, stride, room, channels, cover_all, backend):
    pad = tuple(min(p, k - 1) for p, k in zip(room, (ksize[0], ksize[0], ksize[1], ksize[1])))
    x = distinct((2, channels, *size)).astype("f")
    wanted = loops(x, ksize, stride, pad, cover_all, lambda seen, n: seen.max(-1) if seen.shape[-1] else -np.inf)
    mean = loops(x, ksize, stride, pad, cover_all, lambda seen, n: seen.sum(-1) / n)
    for pool, value in ((max_pooling_2d, wanted), (average_pooling_2d, mean)):
        v = Variable(x)
        y = pool(v, ksize, stride, pad, cover_all=cover_all)
        np.testing.assert_allclose(y.array, value, rtol=1e-5, atol=1e-5)
        y.grad = gy = np.random.default_rng(1).normal(size=y.shape).astype("f")
        y.backward()
        finite = np.isfinite(y.array)
        inner = float((gy[finite] * y.array[finite]).sum())
        np.testing.assert_allclose(float((v.grad * x).sum()), inner, rtol=1e-3, atol=1e-2)
