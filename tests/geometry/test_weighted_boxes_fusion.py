"""Weighted boxes fusion by the formulas of its paper."""

import numpy as np
import pytest

from cvzoo.errors import ShapeError, ValueRangeError
from cvzoo.geometry import weighted_boxes_fusion


def test_a_cluster_has_the_mean_box_weighted_by_score_and_the_mean_score():
    bbox = [[0, 0, 10, 10], [0, 0, 12, 10], [50, 50, 60, 60]]
    fused = weighted_boxes_fusion(bbox, [1, 1, 1], [0.6, 0.3, 0.8], n_view=2)
    np.testing.assert_allclose(fused.bbox, [[0, 0, (6 + 3.6) / 0.9, 10], [50, 50, 60, 60]], rtol=1e-6)
    np.testing.assert_allclose(fused.score, [0.45, 0.4], rtol=1e-6)  # what one of two views found loses half
    assert fused.best.tolist() == [0, 2]


def test_boxes_of_other_classes_are_never_merged():
    fused = weighted_boxes_fusion([[0, 0, 10, 10]] * 2, [0, 1], [0.5, 0.9], n_view=1)
    assert fused.label.tolist() == [1, 0]


def test_more_boxes_than_views_give_their_mean_score():
    fused = weighted_boxes_fusion([[0, 0, 10, 10]] * 3, [0] * 3, [0.9, 0.6, 0.3], n_view=2)
    np.testing.assert_allclose(fused.score, [0.6], rtol=1e-6)


def test_a_box_joins_the_cluster_that_it_overlaps_most():
    bbox = [[0, 0, 10, 10], [0, 4, 10, 14], [0, 3.5, 10, 13.5]]
    fused = weighted_boxes_fusion(bbox, [0] * 3, [0.9, 0.8, 0.7], n_view=1, iou_thresh=0.45)
    assert fused.best.tolist() == [0, 1]
    assert fused.bbox[0].tolist() == bbox[0]


def test_boxes_without_a_score_keep_their_plain_mean_and_nothing_gives_nothing():
    fused = weighted_boxes_fusion([[0, 0, 10, 10], [0, 0, 10, 12]], [0, 0], [0, 0], n_view=1)
    np.testing.assert_allclose(fused.bbox, [[0, 0, 10, 11]])
    empty = weighted_boxes_fusion(np.zeros((0, 4)), [], [], n_view=3)
    assert empty.bbox.shape == (0, 4)
    assert empty.label.dtype == np.int32
    assert empty.score.shape == (0,)


@pytest.mark.parametrize(
    ("bbox", "score", "n_view", "error"),
    [
        ([[0, 0, 1, np.nan]], [0.5], 1, ValueRangeError),
        ([[0, 0, 1, 1]], [-0.1], 1, ValueRangeError),
        ([[0, 0, 1, 1]], [np.nan], 1, ValueRangeError),
        ([[0, 0, 1, 1]], [0.5], 0, ValueRangeError),
        ([[0, 0, 1, 1]], [0.5, 0.5], 1, ShapeError),
    ],
)
def test_what_cannot_be_fused_is_refused(bbox, score, n_view, error):
    with pytest.raises(error):
        weighted_boxes_fusion(bbox, [0], score, n_view=n_view)
