"""Clipping keeps boxes in the photo and drops none."""

import numpy as np
import pytest

from cvzoo.errors import ShapeError
from cvzoo.geometry import clip_bbox

CASES = [
    ([1, 2, 3, 4], [1, 2, 3, 4]),  # inside
    ([-5, -6, 70, 80], [0, 0, 10, 20]),  # all around
    ([-5, -6, -1, -2], [0, 0, 0, 0]),  # outside: empty, on the border
    ([30, 40, 50, 60], [10, 20, 10, 20]),
    ([0, 0, 10, 20], [0, 0, 10, 20]),  # exactly the photo
    ([-np.inf, 5, np.inf, 6], [0, 5, 10, 6]),
]


@pytest.mark.parametrize(("bb", "expected"), CASES)
def test_clip_bbox(bb, expected):
    bbox = np.array([bb], np.float32)
    clipped = clip_bbox(bbox, (10, 20))
    assert clipped.dtype == np.float32
    assert clipped.tolist() == [expected]
    assert bbox.tolist() == [bb]
    assert not np.shares_memory(bbox, clipped)


def test_nan_stays_nan_so_that_it_is_found():
    assert np.isnan(clip_bbox(np.full((1, 4), np.nan, np.float32), (10, 20))).all()


@pytest.mark.parametrize("size", [(0, 5), (5, -1), (5,), (5, 6, 7), 5, "ab", (1.5, 2), (np.nan, 2), (np.inf, 2), None])
def test_wrong_sizes_are_refused(size):
    with pytest.raises(ShapeError, match="pair"):
        clip_bbox(np.zeros((1, 4), np.float32), size)


def test_whole_floats_and_numpy_integers_are_sizes():
    assert clip_bbox([[0, 0, 99, 99]], (np.int64(3), 4.0)).tolist() == [[0, 0, 3, 4]]
