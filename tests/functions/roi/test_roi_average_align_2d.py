"""RoI align by averages: stored numbers of torchvision, plain loops, derivatives, bad input."""

import json
import math
import zlib

import numpy as np
import pytest

from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.roi.roi_average_pooling_2d import roi_average_align_2d, roi_average_align_levels

# y_min x_min y_max x_max on maps of 9 x 11 pixels, a quarter of the photo
ROIS = np.array(
    [
        [4, 6, 30, 22],
        [0, 0, 36, 44],  # the whole photo
        [-9, -7, 3, 5],  # over the edge
        [20, 30, 60, 90],
        [8, 8, 8.5, 8.5],  # thinner than a pixel of the map
        [100, 100, 120, 120],  # nowhere near the map
        [-100, 4, 100, 8],
        [20, 20, 4, 10],  # upside down
    ],
    np.float32,
)
INDICES = np.array([0, 1, 1, 0, 1, 0, 1, 0], np.int32)
SETTINGS = {
    "two samples": ((3, 2), 2, False),
    "as many as pixels": ((2, 3), None, False),
    "rows and columns apart": ((3, 3), (3, 0), False),
    "aligned": ((3, 2), 2, True),
    "aligned, as many as pixels": ((2, 3), 0, True),
    "a single cell": (1, 1, False),
}


def bilinear(plane, y, x):
    """(C,) of plane (C, H, W), as the definition reads it."""
    h, w = plane.shape[1:]
    if not (-1 <= y <= h and -1 <= x <= w):
        return np.zeros(len(plane))
    y, x = min(max(y, 0), h - 1), min(max(x, 0), w - 1)
    top, left = int(y), int(x)
    bottom, right = min(top + 1, h - 1), min(left + 1, w - 1)
    fy, fx = y - top, x - left
    above = plane[:, top, left] * (1 - fx) + plane[:, top, right] * fx
    below = plane[:, bottom, left] * (1 - fx) + plane[:, bottom, right] * fx
    return above * (1 - fy) + below * fy


def samples_of_cells(x, rois, indices, outsize, scale, sampling, aligned):
    """For each region and cell the values of its samples (n, C)."""
    outsize = (outsize, outsize) if isinstance(outsize, int) else outsize
    sampling = sampling if isinstance(sampling, tuple) else (sampling, sampling)
    for r, (roi, i) in enumerate(zip(rois, indices)):
        start = roi[:2] * np.float32(scale) - np.float32(0.5 if aligned else 0)
        length = roi[2:] * np.float32(scale) - np.float32(0.5 if aligned else 0) - start
        length = length if aligned else np.maximum(length, np.float32(1))
        cell = length / np.float32(outsize)
        grid = [n or max(math.ceil(side), 0) for n, side in zip(sampling, cell)]
        for oy in range(outsize[0]):
            for ox in range(outsize[1]):
                places = [
                    (start[0] + (oy + (sy + 0.5) / grid[0]) * cell[0], start[1] + (ox + (sx + 0.5) / grid[1]) * cell[1])
                    for sy in range(grid[0])
                    for sx in range(grid[1])
                ]
                yield r, oy, ox, np.array([bilinear(x[i], *place) for place in places]).reshape(len(places), x.shape[1])


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_it_is_what_the_definition_says(settings, dtype, backend):
    outsize, sampling, aligned = SETTINGS[settings]
    x = np.random.default_rng(0).normal(size=(2, 5, 9, 11)).astype(dtype)
    y = roi_average_align_2d(x, ROIS, INDICES, outsize, 0.25, sampling, aligned=aligned)
    wanted = np.zeros(y.shape)
    for r, oy, ox, values in samples_of_cells(x, ROIS, INDICES, outsize, 0.25, sampling, aligned):
        wanted[r, :, oy, ox] = values.mean(axis=0) if len(values) else 0
    assert y.dtype == dtype
    np.testing.assert_allclose(y.array, wanted, atol=2e-5)


def test_it_gives_the_stored_numbers_of_torchvision(shared):
    golden = json.loads((shared / "reference/torchvision_golden.json").read_text())["roi_align_s2_unaligned"]
    x = np.random.Generator(np.random.PCG64(zlib.crc32(b"roi"))).standard_normal((1, 2, 12, 16), np.float32)
    rois = np.array(golden["rois"], np.float32)[:, [2, 1, 4, 3]]
    indices = np.zeros(len(rois), np.int32)
    y = roi_average_align_2d(x, rois, indices, 3, golden["spatial_scale"], 2).array
    np.testing.assert_allclose(y.reshape(3, -1)[:, :6], golden["out"], atol=1e-6)
    np.testing.assert_allclose(y.sum(axis=(1, 2, 3)), golden["sum"], atol=1e-5)
    y = roi_average_align_2d(x, rois, indices, 3, golden["spatial_scale"], aligned=True).array
    np.testing.assert_allclose(y.sum(axis=(1, 2, 3)), golden["adaptive_aligned_sum"], atol=1e-5)


def test_its_derivatives_are_those_of_numbers(backend):
    x = np.random.default_rng(1).normal(size=(2, 3, 9, 11))
    for outsize, sampling, aligned in SETTINGS.values():

        def f(v):
            return roi_average_align_2d(v, ROIS, INDICES, outsize, 0.25, sampling, aligned=aligned)  # noqa: B023

        check_backward(f, x)
    check_double_backward(lambda v: f(v) ** 2, x)


def test_a_gradient_is_the_same_bits_again_and_the_input_stays_as_it_was():
    x = Variable(np.random.default_rng(2).normal(size=(2, 3, 9, 11)).astype("float32"))
    before, gradients = x.array.copy(), []
    for _ in range(2):
        x.cleargrad()
        y = roi_average_align_2d(x, ROIS, INDICES, 3, 0.25)
        y.grad = np.ones(y.shape, "float32")
        y.backward()
        gradients.append(x.grad)
    np.testing.assert_array_equal(*gradients)
    np.testing.assert_array_equal(x.array, before)


def test_a_batch_without_regions_gives_none():
    x = Variable(np.ones((1, 3, 4, 4), "float32"))
    y = roi_average_align_2d(x, np.zeros((0, 4), "float32"), np.zeros(0, "int32"), (7, 5), 0.5)
    assert y.shape == (0, 3, 7, 5)
    y.grad = np.zeros(y.shape, "float32")
    y.backward()
    np.testing.assert_array_equal(x.grad, 0)


def test_what_does_not_fit_is_refused():
    x = np.ones((2, 3, 4, 4), "float32")
    rois, indices = np.ones((2, 4), "float32"), np.zeros(2, "int32")
    with pytest.raises(ShapeError, match="feature maps"):
        roi_average_align_2d(x[0], rois, indices, 2, 1)
    with pytest.raises(ShapeError, match="no pixels"):
        roi_average_align_2d(x[:, :, :0], rois, indices, 2, 1)
    with pytest.raises(ShapeError, match="one index for each"):
        roi_average_align_2d(x, rois, indices[:1], 2, 1)
    with pytest.raises(ShapeError, match="one index for each"):
        roi_average_align_2d(x, np.ones((2, 5), "float32"), indices, 2, 1)
    with pytest.raises(ValueRangeError, match="name a map"):
        roi_average_align_2d(x, rois, indices + 2, 2, 1)
    with pytest.raises(ValueRangeError, match="finite"):
        roi_average_align_2d(x, rois * np.nan, indices, 2, 1)
    with pytest.raises(DtypeError, match="integers"):
        roi_average_align_2d(x, rois, indices.astype(float), 2, 1)
    with pytest.raises(DtypeError, match="floats"):
        roi_average_align_2d(x.astype(int), rois, indices, 2, 1)
    with pytest.raises(ShapeError, match="outsize"):
        roi_average_align_2d(x, rois, indices, 0, 1)
    with pytest.raises(ValueRangeError, match="sampling_ratio"):
        roi_average_align_2d(x, rois, indices, 2, 1, -1)


@pytest.mark.parametrize("levels", [[0, 1, 0, 1, 1, 0, 1, 0], [1] * 8])
def test_levels_of_a_pyramid_are_what_each_gives_by_itself(levels, backend):
    rng = np.random.default_rng(3)
    maps = [rng.normal(size=(2, 3, 9, 11)), rng.normal(size=(2, 3, 5, 6))]
    levels = np.array(levels)

    def f(*maps):
        return roi_average_align_levels(maps, ROIS, INDICES, levels, (3, 2), (0.25, 0.125), 2)

    y = f(*maps).array
    for level, scale in enumerate((0.25, 0.125)):
        own = levels == level
        alone = roi_average_align_2d(maps[level], ROIS[own], INDICES[own], (3, 2), scale, 2).array
        np.testing.assert_array_equal(y[own], alone)
    if len(set(levels.tolist())) == 2:
        check_backward(f, tuple(maps))
        check_double_backward(lambda *maps: f(*maps) ** 2, tuple(maps))
