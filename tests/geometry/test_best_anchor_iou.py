"""How well anchors can fit, against all anchors of a real grid."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.anchors import cell_anchors, grid_anchors
from cvzoo.geometry.bbox_iou import bbox_iou
from cvzoo.geometry.fit_anchors import best_anchor_iou, iou_at_offset

SIZES, RATIOS, STRIDES = ((12, 18), (24, 36), (48, 72)), (0.2, 1.0, 2.0), (8, 16, 32)


def _boxes(n, seed=0):
    random = np.random.default_rng(seed)
    side = np.exp(random.uniform(np.log(5), np.log(100), (n, 2)))
    low = random.uniform(0, 256 - side)
    return np.concatenate([low, low + side], axis=1).astype("f")


def test_it_is_the_best_of_all_anchors_of_the_grid():
    bbox = _boxes(300)
    anchors = [
        grid_anchors(cell_anchors(size, RATIOS), (256 // stride + 1, 256 // stride + 1), (stride, stride))
        for size, stride in zip(SIZES, STRIDES)
    ]
    wanted = bbox_iou(bbox, np.concatenate(anchors)).max(axis=1)
    np.testing.assert_allclose(best_anchor_iou(bbox, SIZES, RATIOS, STRIDES), wanted, atol=1e-5)


def test_iou_at_an_offset_is_the_iou_of_boxes_around_two_points():
    a, b = np.array([[4, 6], [0, 3]], "d"), np.array([[2, 2], [8, 3]], "d")
    offset = np.array([[1, 0.5], [0, 0]])
    wanted = bbox_iou(np.concatenate([-a / 2, a / 2], 1), np.concatenate([-b / 2, b / 2], 1))
    np.testing.assert_allclose(iou_at_offset(a, b), wanted)
    moved = np.concatenate([offset - a / 2, offset + a / 2], 1)
    np.testing.assert_allclose(
        iou_at_offset(a, b, offset), bbox_iou(moved, np.concatenate([-b / 2, b / 2], 1)), atol=1e-12
    )


def test_empty_boxes_fit_nothing_and_bad_levels_teach():
    assert best_anchor_iou(np.zeros((2, 4), "f"), SIZES, RATIOS, STRIDES).tolist() == [0, 0]
    assert best_anchor_iou(np.zeros((0, 4), "f"), SIZES, RATIOS, STRIDES).shape == (0,)
    with pytest.raises(ShapeError, match="each level"):
        best_anchor_iou(_boxes(1), SIZES, RATIOS, (8,))
