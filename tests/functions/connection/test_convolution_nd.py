"""Convolution, pooling and their transposes over any number of axes, against windows that NumPy slides."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError


def windows(x, ksize, stride, pad, dilate, value=0.0, end=0):
    """(B, C, O1, ..., ON, K1, ..., KN) of x (B, C, D1, ..., DN)."""
    n = len(ksize)
    x = np.pad(x, ((0, 0), (0, 0), *((p, p + end) for p in pad)), constant_values=value)
    whole = [d * (k - 1) + 1 for k, d in zip(ksize, dilate)]
    seen = sliding_window_view(x, whole, axis=tuple(range(2, n + 2)))
    return seen[(..., *(slice(None, None, s) for s in stride), *(slice(None, None, d) for d in dilate))]


def convolved(x, W, b, stride, pad, dilate, groups):
    seen = windows(x, W.shape[2:], stride, pad, dilate)
    n = W.ndim - 2
    parts = [
        np.tensordot(each, w, ((1, *range(n + 2, 2 * n + 2)), tuple(range(1, n + 2))))
        for each, w in zip(np.split(seen, groups, 1), np.split(W, groups, 0))
    ]
    return np.moveaxis(np.concatenate(parts, -1), -1, 1) + b.reshape(-1, *(1,) * n)


CASES = {  # size of x, of W, stride, pad, dilate, groups
    "a sequence": ((9,), (3,), (1,), (1,), (1,), 1),
    "a sequence with steps and holes": ((11,), (3,), (2,), (0,), (2,), 2),
    "a map": ((6, 7), (3, 2), (2, 1), (1, 0), (1, 2), 2),
    "a video": ((5, 6, 7), (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1), 1),
    "a video with everything": ((6, 7, 8), (2, 3, 1), (2, 1, 3), (1, 0, 2), (3, 2, 1), 2),
    "four axes": ((3, 4, 3, 4), (2, 2, 1, 3), (1, 2, 1, 1), (0, 1, 0, 1), (1, 1, 1, 1), 1),
}


@pytest.mark.parametrize("case", CASES)
def test_convolution_is_the_sum_over_windows(case, backend):
    size, ksize, stride, pad, dilate, groups = CASES[case]
    random = np.random.default_rng(0)
    x, W, b = random.normal(size=(2, 4, *size)), random.normal(size=(6, 4 // groups, *ksize)), random.normal(size=6)
    y = F.convolution_nd(x, W, b, stride, pad, dilate=dilate, groups=groups)
    np.testing.assert_allclose(y.array, convolved(x, W, b, stride, pad, dilate, groups), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_transposed_convolution_is_the_adjoint_of_the_convolution(case, backend):
    size, ksize, stride, pad, dilate, groups = CASES[case]
    random = np.random.default_rng(2)
    x, W = random.normal(size=(2, 4, *size)), random.normal(size=(6, 4 // groups, *ksize))
    y = convolved(x, W, np.zeros(6), stride, pad, dilate, groups)
    gy, b = random.normal(size=y.shape), random.normal(size=4)
    back = F.deconvolution_nd(gy, W, b, stride, pad, size, dilate, groups).array
    assert back.shape == x.shape
    bias = (x.sum((0, *range(2, x.ndim))) * b).sum()
    np.testing.assert_allclose((x * back).sum() - bias, (y * gy).sum(), rtol=1e-10)


def test_a_transposed_convolution_has_the_smallest_size_by_default():
    x, W = np.ones((1, 2, 3, 4, 5), "f"), np.ones((2, 3, 2, 3, 1), "f")
    assert F.deconvolution_3d(x, W, stride=2, pad=(0, 1, 0)).shape == (1, 3, 6, 7, 9)
    assert F.deconvolution_1d(x[..., 0, 0], W[..., 0, 0], stride=3, outsize=9).shape == (1, 3, 9)
    link = L.Deconvolution3D(None, 3, (2, 3, 1), 2, (0, 1, 0))
    assert link(x).shape == (1, 3, 6, 7, 9)
    assert L.Deconvolution1D(2, 3, 2, outsize=(4,), nobias=True)(x[..., 0, 0]).shape == (1, 3, 4)


def test_beyond_all_windows_a_transposed_convolution_is_its_bias():
    y = F.deconvolution_3d(np.ones((1, 1, 1, 1, 1)), np.ones((1, 1, 1, 1, 1)), np.full(1, 0.5), 2, 0, (2, 2, 1))
    np.testing.assert_array_equal(y.array.reshape(2, 2), [[1.5, 0.5], [0.5, 0.5]])


@pytest.mark.parametrize("size", [(9,), (6, 7), (5, 6, 7), (3, 4, 5, 4)], ids=str)
def test_unpooling_is_the_adjoint_of_the_sum_over_windows(size, backend):
    n = len(size)
    x = np.random.default_rng(3).normal(size=(2, 3, *size))
    k, s, p = (2, 3, 2, 2)[:n], (1, 2, 2, 1)[:n], (1, 0, 1, 0)[:n]
    y = windows(x, k, s, p, (1,) * n).sum(tuple(range(-n, 0)))
    gy = np.random.default_rng(4).normal(size=y.shape)
    back = F.unpooling_nd(gy, k, s, p, size, cover_all=False).array
    np.testing.assert_allclose((x * back).sum(), (y * gy).sum(), rtol=1e-10)


def test_unpooled_sizes_are_those_that_a_pooling_that_covers_all_pixels_would_give_back():
    x = np.arange(3.0)[None, None]
    assert F.unpooling_1d(x, 2).array.tolist() == [[[0, 0, 1, 1, 2]]]
    assert F.unpooling_1d(x, 2, cover_all=False).array.tolist() == [[[0, 0, 1, 1, 2, 2]]]
    assert F.unpooling_3d(np.ones((1, 1, 2, 2, 2), "f"), 2, outsize=(4, 3, 4)).shape == (1, 1, 4, 3, 4)


def test_convolution_covers_all_pixels_on_request():
    x, W = np.ones((1, 1, 4, 4, 4), "f"), np.ones((1, 1, 3, 3, 3), "f")
    assert F.convolution_3d(x, W, stride=2).shape == (1, 1, 1, 1, 1)
    y = F.convolution_3d(x, W, stride=2, cover_all=True)
    np.testing.assert_array_equal(y.array[0, 0, :, 0, 0], [27, 18])


@pytest.mark.parametrize("size", [(9,), (6, 7), (5, 6, 7), (3, 4, 5, 4)], ids=str)
def test_pooling_takes_the_maximum_and_the_mean_of_windows(size, backend):
    n = len(size)
    x = np.random.default_rng(1).normal(size=(2, 3, *size))
    k, s, p = (2, 3, 2, 2)[:n], (1, 2, 2, 1)[:n], (1, 0, 1, 0)[:n]
    last = tuple(range(-n, 0))
    seen = windows(x, k, s, p, (1,) * n, -np.inf)
    np.testing.assert_allclose(F.max_pooling_nd(x, k, s, p, cover_all=False).array, seen.max(last))
    zeros = windows(x, k, s, p, (1,) * n)
    np.testing.assert_allclose(F.average_pooling_nd(x, k, s, p).array, zeros.mean(last), atol=1e-12)
    there = np.isfinite(seen)
    wanted = zeros.sum(last) / there.sum(last)
    np.testing.assert_allclose(F.average_pooling_nd(x, k, s, p, None).array, wanted, atol=1e-12)


def test_windows_touch_and_cover_all_pixels_by_default():
    x = np.arange(5.0)[None, None]
    assert F.max_pooling_1d(x, 2).array.tolist() == [[[1, 3, 4]]]
    assert F.average_pooling_1d(x, 2).array.tolist() == [[[0.5, 2.5]]]
    assert F.max_pooling_3d(np.ones((1, 1, 5, 4, 3), "f"), 2).shape == (1, 1, 3, 2, 2)
    assert F.average_pooling_3d(np.ones((1, 1, 5, 4, 3), "f"), 2).shape == (1, 1, 2, 2, 1)


VIDEO, FILTERS = np.ones((1, 2, 3, 4, 5), "f"), np.ones((2, 2, 3, 3, 3), "f")
BAD = {
    "filters of a map": (lambda: F.convolution_3d(VIDEO, FILTERS[0]), ShapeError, "convolution_3d: x and W have other"),
    "a map": (lambda: F.convolution_3d(VIDEO[0], FILTERS), ShapeError, r"x \(B, C, D, H, W\)"),
    "no axes": (lambda: F.convolution_nd(VIDEO[0, 0, 0], FILTERS), ShapeError, "other numbers of axes"),
    "transposed filters of a map": (
        lambda: F.deconvolution_3d(VIDEO, FILTERS[0]),
        ShapeError,
        r"deconvolution_3d: x and W have other numbers of axes\n(?s:.)*\(C, O/groups, KD, KH, KW\)",
    ),
    "channels of a transpose": (lambda: F.deconvolution_3d(VIDEO[:, :1], FILTERS), ShapeError, "x has 1 channels"),
    "a size that no convolution has": (
        lambda: F.deconvolution_3d(VIDEO, FILTERS, outsize=(5, 6, 8)),
        ShapeError,
        "deconvolution_3d: a convolution of outsize",
    ),
    "a bias of another size": (
        lambda: F.deconvolution_3d(VIDEO, FILTERS, np.ones(3, "f")),
        ShapeError,
        "deconvolution_3d: b needs one value for each filter",
    ),
    "groups of a transposed layer": (
        lambda: L.DeconvolutionND(3, 3, 4, 3, groups=2),
        ShapeError,
        "do not divide into groups",
    ),
    "channels": (lambda: F.convolution_3d(VIDEO[:, :1], FILTERS), ShapeError, "x has 1 channels, W wants 2"),
    "a window too large": (lambda: F.convolution_3d(VIDEO[:, :, :2], FILTERS), ShapeError, "does not fit in 2"),
    "two strides": (lambda: F.convolution_nd(VIDEO, FILTERS, stride=(1, 1)), DtypeError, "one for each of 3 axes"),
    "a stride of 0": (lambda: F.convolution_nd(VIDEO, FILTERS, stride=(0, 1, 1)), ValueRangeError, "stride is too"),
    "pooling a map": (lambda: F.max_pooling_3d(VIDEO[0], 2), ShapeError, "max_pooling_3d: x has another number"),
    "a negative pad": (lambda: F.average_pooling_nd(VIDEO, 2, pad=-1), ValueRangeError, "pad is too small"),
    "no axes of a layer": (lambda: L.ConvolutionND(0, 2, 3, 3), DtypeError, "one for each of 0 axes"),
    "a padded number": (lambda: F.average_pooling_nd(VIDEO, 2, pad_value=1), ValueRangeError, "neither 0 nor None"),
}


@pytest.mark.parametrize("axes", [1, 3, 4])
def test_batches_without_examples_stay_empty(axes):
    x = np.zeros((0, 2, *(3,) * axes), np.float32)
    W = np.ones((2, 2, *(2,) * axes), np.float32)
    for y, size in (
        (F.convolution_nd(x, W, stride=1), 2),
        (F.deconvolution_nd(x, W, stride=2), 6),
        (F.max_pooling_nd(x, 2), 2),
        (F.average_pooling_nd(x, 2, 1), 2),
        (F.unpooling_nd(x, 2, cover_all=False), 6),
    ):
        assert y.shape == (0, 2, *(size,) * axes)


def test_numbers_of_numpy_are_numbers():
    assert F.max_pooling_3d(VIDEO, np.int64(2), np.int64(2)).shape == (1, 2, 2, 2, 3)


@pytest.mark.parametrize("case", BAD)
def test_bad_calls_say_what_was_wrong(case):
    call, error, message = BAD[case]
    with pytest.raises(error, match=message):
        call()
