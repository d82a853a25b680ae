"""Scaling in proportion, and boxes along with it."""

import numpy as np
import pytest

from cvzoo.errors import ShapeError, ValueRangeError
from cvzoo.transforms import resize_bbox, scale, scaled_size

CASES = [
    ((480, 640), 600, 1000, (600, 800)),  # the short side decides
    ((300, 900), 600, 1000, (333, 1000)),  # the long side would pass its limit
    ((640, 480), 600, 1000, (800, 600)),
    ((100, 200), 50, None, (50, 100)),
    ((100, 200), None, 100, (50, 100)),
    ((1, 1000), None, 10, (1, 10)),  # no side vanishes
    ((7, 7), 7, 7, (7, 7)),
    ((333, 500), 256, None, (256, 384)),  # 384.38
    ((375, 500), 256, None, (256, 341)),  # 341.33
    ((427, 640), 800, 1333, (800, 1199)),  # 1199.06
    ((427, 640), 256, None, (256, 383)),  # 383.70: cut, not rounded
]


@pytest.mark.parametrize(("in_size", "short", "long", "expected"), CASES)
def test_scaled_size(in_size, short, long, expected):
    assert scaled_size(in_size, short=short, long=long) == expected


def test_scale_resizes():
    assert scale(np.zeros((3, 10, 20)), short=5).shape == (3, 5, 10)


def test_boxes_follow_each_axis_by_its_own_factor():
    bbox = np.array([[1, 2, 3, 4]], np.float32)
    resized = resize_bbox(bbox, (10, 20), (20, 10))
    assert resized.tolist() == [[2, 1, 6, 2]]
    assert resized.dtype == np.float32
    assert bbox.tolist() == [[1, 2, 3, 4]]
    np.testing.assert_array_equal(resize_bbox(resized, (20, 10), (10, 20)), bbox)
    assert resize_bbox(np.zeros((0, 4)), (1, 1), (2, 2)).shape == (0, 4)


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueRangeError, match="short or long"):
        scale(np.zeros((3, 10, 20)))
    with pytest.raises(ValueRangeError, match="positive"):
        scaled_size((10, 20), short=0)
    with pytest.raises(ShapeError, match="out_size"):
        resize_bbox(np.zeros((1, 4)), (1, 1), (0, 1))
