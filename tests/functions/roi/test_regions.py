"""All functions of regions: stored numbers of torchvision, plain loops, derivatives, bad input."""

import math
import pathlib

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ShapeError

STORED = pathlib.Path(__file__).with_name("torchvision_regions.npz")  # torchvision 0.29.2 on these maps
POOLS = {
    "roi_max_pooling_2d": F.roi_max_pooling_2d,
    "roi_average_pooling_2d": F.roi_average_pooling_2d,
}
PS_POOLS = {
    "ps_roi_max_pooling_2d": F.ps_roi_max_pooling_2d,
    "ps_roi_average_pooling_2d": F.ps_roi_average_pooling_2d,
}
ALIGNS = {
    "roi_max_align_2d": (F.roi_max_align_2d, np.max),
    "roi_average_align_2d": (F.roi_average_align_2d, np.mean),
}
PS_ALIGNS = {
    "ps_roi_max_align_2d": (F.ps_roi_max_align_2d, np.max),
    "ps_roi_average_align_2d": (F.ps_roi_average_align_2d, np.mean),
}


@pytest.fixture(scope="module")
def stored():
    with np.load(STORED) as arrays:
        return dict(arrays)


def maps(shape=(2, 18, 9, 11), seed=3):
    """Values that stay apart, so that no maximum changes under a small step."""
    n = math.prod(shape)
    return (np.random.default_rng(seed).permutation(n) * 0.1 - n * 0.05).reshape(shape)


def away(x):
    """C's round()."""
    return math.floor(x + 0.5) if x >= 0 else math.ceil(x - 0.5)


def pooled(x, rois, indices, outsize, scale, pick, *, inclusive):
    """Whole pixels of rounded regions, bin by bin."""
    h, w = x.shape[2:]
    y = np.zeros((len(rois), x.shape[1], *outsize))
    for r, (roi, i) in enumerate(zip(rois * scale, indices)):
        start, stop = [away(v) for v in roi[:2]], [away(v) for v in roi[2:]]
        cell = [max(b - a + inclusive, 1) / n for a, b, n in zip(start, stop, outsize)]
        for o in np.ndindex(*outsize):
            (top, bottom), (left, right) = (
                (
                    min(max(math.floor(o[k] * cell[k]) + start[k], 0), size),
                    min(max(math.ceil((o[k] + 1) * cell[k]) + start[k], 0), size),
                )
                for k, size in enumerate((h, w))
            )
            seen = x[i, :, top:bottom, left:right].reshape(x.shape[1], -1)
            y[(r, slice(None), *o)] = pick(seen, axis=1) if seen.size else 0
    return y


def sampled(x, rois, indices, outsize, scale, sampling, pick):
    """Bilinear samples that lie on the map, cell by cell, regions at least a pixel wide."""
    y = np.zeros((len(rois), x.shape[1], *outsize))
    for r, (roi, i) in enumerate(zip(rois * np.float32(scale), indices)):
        cell = np.maximum(roi[2:] - roi[:2], np.float32(1)) / np.float32(outsize)
        grid = [sampling or math.ceil(side) for side in cell]
        for o in np.ndindex(*outsize):
            values = []
            for s in np.ndindex(*grid):
                place = [float(roi[k] + (o[k] + (s[k] + 0.5) / grid[k]) * cell[k]) for k in (0, 1)]
                if all(-1 <= p <= size for p, size in zip(place, x.shape[2:])):
                    low = [int(min(max(p, 0), size - 1)) for p, size in zip(place, x.shape[2:])]
                    part = [min(max(p, 0), size - 1) - n for p, n, size in zip(place, low, x.shape[2:])]
                    high = [min(n + 1, size - 1) for n, size in zip(low, x.shape[2:])]
                    a, b = x[i, :, low[0], low[1]], x[i, :, low[0], high[1]]
                    c, d = x[i, :, high[0], low[1]], x[i, :, high[0], high[1]]
                    above, below = a + (b - a) * part[1], c + (d - c) * part[1]
                    values.append(above + (below - above) * part[0])
                elif pick is np.mean:
                    values.append(np.zeros(x.shape[1]))
            y[(r, slice(None), *o)] = pick(values, axis=0) if values else 0
    return y


def by_place(y, n_class, group):
    """(R, C, OH, OW) of what all C * G * G channels give in every cell."""
    r, _, oh, ow = y.shape
    y = y.reshape(r, n_class, group, group, oh, ow)
    picked = np.zeros((r, n_class, oh, ow))
    for o in np.ndindex(oh, ow):
        picked[:, :, o[0], o[1]] = y[:, :, o[0] * group // oh, o[1] * group // ow, o[0], o[1]]
    return picked


def test_max_pooling_gives_the_stored_numbers_of_torchvision(stored, backend):
    y = F.roi_max_pooling_2d(stored["x"], stored["rois"], stored["indices"], (3, 2), 0.25, inclusive=True)
    np.testing.assert_array_equal(y.array, stored["roi_pool"])
    y = F.roi_max_pooling_2d(Variable(stored["x"]), stored["rois"], stored["indices"], (3, 2), 0.25, inclusive=True)
    np.testing.assert_array_equal(y.array, stored["roi_pool"])  # with places kept


def test_average_align_gives_the_stored_numbers_of_torchvision(stored, backend):
    x, rois, indices = (stored[key] for key in ("x", "rois", "indices"))
    y = F.roi_average_align_2d(x, rois, indices, (3, 2), 0.25, 2)
    np.testing.assert_allclose(y.array, stored["roi_align"], atol=1e-6)
    y = F.roi_average_align_2d(x, rois, indices, (3, 2), 0.25, aligned=True)
    np.testing.assert_allclose(y.array, stored["roi_align_adaptive_aligned"], atol=1e-6)


def test_position_sensitive_ones_give_the_stored_numbers_of_torchvision(stored, backend):
    x, rois, indices = (stored[key] for key in ("x", "rois", "indices"))
    y = F.ps_roi_average_align_2d(x, rois, indices, (2, 3, 3), 0.25, 3, 2, aligned=True)
    np.testing.assert_allclose(y.array, stored["ps_roi_align"], atol=1e-6)
    y = F.ps_roi_average_align_2d(x, rois, indices, (2, 3, 3), 0.25, 3, aligned=True)
    np.testing.assert_allclose(y.array, stored["ps_roi_align_adaptive"], atol=1e-6)
    y = F.ps_roi_average_pooling_2d(x, stored["whole"], indices, (2, 3, 3), 0.25, 3)
    np.testing.assert_allclose(y.array, stored["ps_roi_pool"], atol=1e-6)


@pytest.mark.parametrize("inclusive", [False, True])
@pytest.mark.parametrize("name", POOLS)
def test_pooling_is_what_the_loops_say(name, inclusive, stored, backend):
    pick = np.max if "max" in name else np.mean
    rois = np.concatenate([stored["rois"], [[100, 100, 120, 120], [9, 9, 3, 3], [2, 6, 10, 14]]]).astype("float32")
    indices = np.r_[stored["indices"], 0, 1, 0]
    x = maps().astype("float32")
    wanted = pooled(x, rois, indices, (3, 2), 0.25, pick, inclusive=inclusive)
    for v in (x, Variable(x)):
        y = POOLS[name](v, rois, indices, (3, 2), 0.25, inclusive=inclusive)
        assert y.dtype == np.float32
        np.testing.assert_allclose(y.array, wanted, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("sampling", [None, 1, 2])
@pytest.mark.parametrize("name", ALIGNS)
def test_align_is_what_the_loops_say(name, sampling, stored, backend):
    function, pick = ALIGNS[name]
    x, rois, indices = stored["x"], stored["rois"], stored["indices"]
    y = function(x, rois, indices, (2, 3), 0.25, sampling)
    np.testing.assert_allclose(y.array, sampled(x, rois, indices, (2, 3), 0.25, sampling, pick), atol=1e-5)


@pytest.mark.parametrize("sampling", [None, 2])
@pytest.mark.parametrize("name", PS_ALIGNS)
def test_position_sensitive_align_takes_each_cell_from_its_own_channels(name, sampling, stored, backend):
    function, pick = PS_ALIGNS[name]
    x, rois, indices = stored["x"], stored["rois"], stored["indices"]
    y = function(x, rois, indices, (2, 6, 4), 0.25, 3, sampling)
    wanted = sampled(x, rois, indices, (6, 4), 0.25, sampling, pick)
    np.testing.assert_allclose(y.array, by_place(wanted, 2, 3), atol=1e-5)


@pytest.mark.parametrize("name", PS_POOLS)
def test_position_sensitive_pooling_takes_each_cell_from_its_own_channels(name, stored, backend):
    x, rois, indices = stored["x"], stored["rois"], stored["indices"]
    pick = np.max if "max" in name else np.mean
    wanted = np.zeros((len(rois), 18, 4, 3))
    for r, (roi, i) in enumerate(zip(rois * 0.25, indices)):
        cell = np.maximum(roi[2:] - roi[:2], 0.1) / (4, 3)
        for o in np.ndindex(4, 3):
            (top, left) = np.clip(np.floor(o * cell + roi[:2]), 0, (9, 11)).astype(int)
            (bottom, right) = np.clip(np.ceil(np.add(o, 1) * cell + roi[:2]), 0, (9, 11)).astype(int)
            seen = x[i, :, top:bottom, left:right].reshape(18, -1)
            wanted[(r, slice(None), *o)] = pick(seen, axis=1) if seen.size else 0
    y = PS_POOLS[name](x, rois, indices, (2, 4, 3), 0.25, 3)
    np.testing.assert_allclose(y.array, by_place(wanted, 2, 3), atol=1e-5)


CALLS = {
    "roi_max_pooling_2d": lambda v, *r: F.roi_max_pooling_2d(v, *r, (3, 2), 0.25),
    "roi_average_pooling_2d": lambda v, *r: F.roi_average_pooling_2d(v, *r, (3, 2), 0.25),
    "roi_max_align_2d": lambda v, *r: F.roi_max_align_2d(v, *r, (3, 2), 0.25),
    "ps_roi_max_pooling_2d": lambda v, *r: F.ps_roi_max_pooling_2d(v, *r, (2, 3, 3), 0.25, 3),
    "ps_roi_average_pooling_2d": lambda v, *r: F.ps_roi_average_pooling_2d(v, *r, (2, 3, 3), 0.25, 3),
    "ps_roi_max_align_2d": lambda v, *r: F.ps_roi_max_align_2d(v, *r, (2, 3, 3), 0.25, 3, 2),
    "ps_roi_average_align_2d": lambda v, *r: F.ps_roi_average_align_2d(v, *r, (2, 3, 3), 0.25, 3),
}


@pytest.mark.parametrize("name", CALLS)
def test_derivatives_are_those_of_numbers(name, stored, backend):
    x, rois = maps((2, 18, 5, 6)), stored["rois"] * 0.5
    check_backward(lambda v: CALLS[name](v, rois, stored["indices"]), x)
    check_double_backward(lambda v: CALLS[name](v, rois, stored["indices"]) ** 2, x / 20)


@pytest.mark.parametrize("name", CALLS)
def test_a_batch_without_regions_gives_none_and_a_gradient_of_zeros(name):
    x = Variable(np.ones((1, 18, 5, 6), "float32"))
    y = CALLS[name](x, np.zeros((0, 4), "float32"), np.zeros(0, "int32"))
    assert y.shape[0] == 0
    y.grad = np.zeros(y.shape, "float32")
    y.backward()
    np.testing.assert_array_equal(x.grad, np.zeros(x.shape))


@pytest.mark.parametrize("name", CALLS)
def test_what_lies_beside_the_map_is_zero(name):
    rois = np.array([[400, 400, 420, 420]], "float32")
    y = CALLS[name](np.ones((1, 18, 5, 6), "float32"), rois, np.zeros(1, "int32"))
    np.testing.assert_array_equal(y.array, 0)


@pytest.mark.parametrize("name", CALLS)
def test_what_does_not_fit_is_refused(name):
    x, rois = np.ones((1, 18, 5, 6), "float32"), np.ones((2, 4), "float32")
    with pytest.raises(ShapeError, match=name):
        CALLS[name](x[0], rois, np.zeros(2, "int32"))
    with pytest.raises(DtypeError, match=name):
        CALLS[name](x, rois, np.zeros(2, "float32"))


def test_channels_that_cannot_be_shared_out_are_refused():
    regions = np.ones((1, 4), "float32"), np.zeros(1, "int32")
    with pytest.raises(ShapeError, match="channels"):
        F.ps_roi_average_pooling_2d(np.ones((1, 18, 5, 6), "float32"), *regions, (3, 3, 3), 0.25, 3)
    with pytest.raises(DtypeError, match="outsize"):
        F.ps_roi_max_align_2d(np.ones((1, 18, 5, 6), "float32"), *regions, (2, 3, 3, 3), 0.25, 3)
    with pytest.raises(ShapeError, match="channels"):
        F.ps_roi_max_align_2d(np.ones((1, 19, 5, 6), "float32"), *regions, 3, 0.25, 3)


@pytest.mark.parametrize("name", [name for name in CALLS if name.startswith("ps_roi")])
def test_the_channels_of_the_maps_say_how_many_come_out_where_outsize_does_not(name):
    x = np.random.default_rng(0).normal(size=(1, 18, 5, 6)).astype("float32")
    regions = np.array([[0, 0, 12, 16]], "float32"), np.zeros(1, "int32")
    function = getattr(F, name)
    wanted = function(x, *regions, (2, 3, 3), 0.25, 3).array
    for outsize in ((3, 3), 3):
        np.testing.assert_array_equal(function(x, *regions, outsize, 0.25, 3).array, wanted)
