"""Means over the cells of regions by our own kernel are those of products of matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.backends.native import region_means
from cvzoo.backends.native.library import native
from cvzoo.backends.numpy import roi
from cvzoo.backends.regions import Cells, Regions

pytestmark = pytest.mark.skipif(native() is None, reason="needs our library")


def regions(rng, n, outsize, cells, sampling, levels):
    corner = rng.uniform(-30, 130, (n, 2))
    bbox = np.concatenate([corner, corner + rng.uniform(-2, 90, (n, 2))], axis=1).astype(np.float32)
    level = rng.integers(0, levels, n).astype(np.int32) if levels > 1 else None
    scales = tuple(1 / 2**k for k in range(levels))
    return Regions(bbox, rng.integers(0, 2, n).astype(np.int32), level, scales, outsize, cells, sampling)


def maps(rng, c, levels):
    shapes = [(2, 110 >> k, 130 >> k, c) for k in range(levels)]
    return [rng.standard_normal(shape, np.float32).transpose(0, 3, 1, 2) for shape in shapes]


def by_numpy(x, rois):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(roi, "means_natively", lambda *args: False)
        return roi.roi_average(x, rois)


@given(
    seed=st.integers(0, 1000),
    n=st.integers(0, 12),
    c=st.sampled_from([16, 48, 64, 80, 256]),
    outsize=st.sampled_from([(1, 1), (7, 7), (3, 14)]),
    cells=st.sampled_from([Cells.SAMPLES, Cells.ROUNDED, Cells.ROUNDED_INCLUSIVE]),
    sampling=st.sampled_from([(0, 0), (2, 2), (1, 3)]),
    levels=st.integers(1, 3),
)
def test_means_are_those_of_products(seed, n, c, outsize, cells, sampling, levels):
    rng = np.random.default_rng(seed)
    x, rois = maps(rng, c, levels), regions(rng, n, outsize, cells, sampling, levels)
    np.testing.assert_allclose(roi.roi_average(x, rois), by_numpy(x, rois), atol=2e-6)


@pytest.mark.parametrize("c", [20, 8])
def test_other_numbers_of_channels_are_left_to_numpy(c):
    (x,) = maps(np.random.default_rng(0), c, 1)
    nothing = np.zeros(0, np.int64)
    weights = np.zeros((0, 7, 1), np.float32)
    y = np.empty((0, 7, 7, c), np.float32).transpose(0, 3, 1, 2)
    assert not region_means.means_natively(x, y, nothing, nothing, (nothing, weights), (nothing, weights))


def test_bits_depend_on_neither_the_threads_nor_the_other_regions(monkeypatch):
    rng = np.random.default_rng(0)
    x, rois = maps(rng, 80, 2), regions(rng, 60, (7, 7), Cells.SAMPLES, (2, 2), 2)
    found = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(region_means, "threads_now", lambda threads=threads: (threads, ""))
        found.append(roi.roi_average(x, rois))
    some = Regions(rois.bbox[5:9], rois.image[5:9], rois.level[5:9], rois.scales, (7, 7), Cells.SAMPLES, (2, 2))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_array_equal(found[0][5:9], roi.roi_average(x, some))


def test_an_infinite_pixel_spoils_the_cells_that_it_is_in_alone():
    x = np.zeros((1, 30, 30, 16), np.float32).transpose(0, 3, 1, 2)
    x[0, :, 3, 3] = np.inf
    box = np.array([[0, 0, 28, 28]], np.float32)
    rois = Regions(box, np.zeros(1, np.int32), None, (1.0,), (7, 7), Cells.SAMPLES, (2, 2))
    y = roi.roi_average([x], rois)
    assert not np.isfinite(y[0, :, 0, 0]).any()
    assert np.count_nonzero(y[0, 0]) == 1
