import numpy as np
import pytest

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry import bbox_to_quad, quad_to_bbox


def test_boxes_become_corners_and_come_back():
    bbox = np.array([[1, 2, 5, 9], [0, 0, 0, 0]], np.float32)
    quad = bbox_to_quad(bbox)
    np.testing.assert_array_equal(quad[0], [[1, 2], [1, 9], [5, 9], [5, 2]])
    np.testing.assert_array_equal(quad_to_bbox(quad), bbox)
    assert quad.dtype == np.float32


def test_a_slanted_quad_lies_within_its_box():
    quad = np.array([[[0, 3], [2, 8], [6, 5], [4, 1]]], np.float32)
    np.testing.assert_array_equal(quad_to_bbox(quad), [[0, 1, 6, 8]])


def test_no_quads_are_no_boxes():
    assert quad_to_bbox(np.zeros((0, 4, 2), np.float32)).shape == (0, 4)
    assert bbox_to_quad(np.zeros((0, 4), np.float32)).shape == (0, 4, 2)


@pytest.mark.parametrize("shape", [(4, 2), (1, 8), (1, 2, 4)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(ShapeError):
        quad_to_bbox(np.zeros(shape))
