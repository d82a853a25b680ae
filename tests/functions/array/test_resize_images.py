"""Feature maps at another size."""

import itertools

import numpy as np
import pytest
from PIL import Image

import cvzoo.functions as F
from cvzoo.autodiff.gradient_check import assert_allclose, check_backward, check_double_backward
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError

SETTINGS = [
    {"mode": "nearest"},
    {"mode": "bilinear", "align_corners": True},
    {"mode": "bilinear", "align_corners": False},
    {"mode": "bilinear", "align_corners": False, "antialias": True},
]
SIZES = [((4, 5), (8, 10)), ((4, 5), (3, 7)), ((6, 8), (2, 3)), ((3, 3), (3, 3)), ((1, 1), (2, 3)), ((3, 2), (1, 1))]


def _naive(x, size, align_corners):
    """Bilinear by loops: pixel centres at half, or corners on corners."""
    h, w = x.shape[2:]
    y = np.zeros((*x.shape[:2], *size))

    def source(i, n_in, n_out):
        if align_corners:
            return i * (n_in - 1) / (n_out - 1) if n_out > 1 else 0.0
        return min(max((i + 0.5) * n_in / n_out - 0.5, 0), n_in - 1)

    for i, j in itertools.product(*map(range, size)):
        u, v = source(i, h, size[0]), source(j, w, size[1])
        top, left = int(u), int(v)
        for a, b in itertools.product((0, 1), (0, 1)):
            weight = (u - top if a else 1 - u + top) * (v - left if b else 1 - v + left)
            y[:, :, i, j] += weight * x[:, :, min(top + a, h - 1), min(left + b, w - 1)]
    return y


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("align_corners", [False, True])
def test_bilinear_is_what_loops_give(sizes, align_corners, backend):
    before, after = sizes
    x = np.random.default_rng(0).normal(size=(2, 3, *before))
    for dtype, atol in (("float32", 1e-5), ("float64", 1e-12)):
        y = F.resize_images(x.astype(dtype), after, align_corners=align_corners)
        assert y.dtype == dtype
        assert_allclose(y, _naive(x, after, align_corners), atol=atol, rtol=1e-5)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_nearest_takes_the_pixel_at_floor(sizes, backend):
    (h, w), (oh, ow) = sizes
    x = np.random.default_rng(0).normal(size=(2, 3, h, w)).astype("float32")
    y = F.resize_images(x, (oh, ow), mode="nearest")
    assert np.array_equal(y.array, x[:, :, np.arange(oh) * h // oh][:, :, :, np.arange(ow) * w // ow])


def test_antialiased_shrinking_is_pillows(backend):
    x = np.random.default_rng(0).uniform(0, 255, (1, 1, 13, 17)).astype("float32")
    y = F.resize_images(x, (5, 7), align_corners=False, antialias=True).array[0, 0]
    expected = np.asarray(Image.fromarray(x[0, 0]).resize((7, 5), Image.Resampling.BILINEAR))
    assert_allclose(y, expected, rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("sizes", SIZES[:3], ids=str)
def test_gradients_agree_with_numbers(settings, sizes, backend):
    x = np.random.default_rng(0).normal(size=(1, 2, *sizes[0]))

    def resize(x):
        return F.resize_images(x, sizes[1], **settings)

    check_backward(resize, x)
    check_double_backward(lambda x: resize(x) ** 2, x, rtol=1e-3, atol=1e-4)


def test_upsampling_repeats_pixels(backend):
    x = np.random.default_rng(0).normal(size=(2, 3, 2, 3)).astype("float32")
    assert np.array_equal(F.upsample_nearest(x, 2).array, x.repeat(2, 2).repeat(2, 3))
    assert np.array_equal(F.upsample_nearest(x, (1, 3)).array, x.repeat(3, 3))
    check_backward(lambda x: F.upsample_nearest(x, 2), x)


def test_what_does_not_fit_is_refused():
    x = np.zeros((1, 2, 3, 3), "float32")
    with pytest.raises(ValueRangeError, match="cubic"):
        F.resize_images(x, (2, 2), mode="cubic")
    for bad, size in ((x[0], (2, 2)), (x, (0, 2)), (x, (2, 2, 2)), (x[:, :, :0], (2, 2))):
        with pytest.raises(ShapeError, match="resize_images"):
            F.resize_images(bad, size)
    with pytest.raises(DtypeError, match="floating"):
        F.resize_images(x.astype("uint8"), (2, 2))
    with pytest.raises(ShapeError, match="upsample_nearest"):
        F.upsample_nearest(x[0], 2)
