"""Detections, objects and their overlaps by columns."""

import numpy as np
import pytest

from cvzoo.errors import ShapeError, ValueRangeError
from cvzoo.evaluations.analysis import DetectionTable, match_detections
from cvzoo.geometry import RLEs, bbox_iou


def random_columns(rng, n):
    columns = [[] for _ in range(5)]
    for _ in range(n):
        n_pred, n_gt = rng.integers(0, 6, 2)
        corner, size = rng.uniform(0, 30, (n_pred + n_gt, 2)), rng.uniform(1, 30, (n_pred + n_gt, 2))
        bbox = np.concatenate([corner, corner + size], axis=1)
        row = (bbox[:n_pred], rng.integers(0, 3, n_pred), rng.random(n_pred), bbox[n_pred:], rng.integers(0, 3, n_gt))
        for column, value in zip(columns, row):
            column.append(value)
    return columns


def test_pairs_are_those_of_a_photo_that_overlap():
    columns = random_columns(np.random.default_rng(0), 30)
    table = DetectionTable.of_bboxes(*columns)
    pred_row, gt_row, pairs = 0, 0, []
    for pred, gt in zip(columns[0], columns[3]):
        iou = bbox_iou(pred, gt)
        pairs += [(pred_row + a, gt_row + b, iou[a, b]) for a, b in zip(*np.nonzero(iou >= 0.1))]
        pred_row, gt_row = pred_row + len(pred), gt_row + len(gt)
    found = sorted(zip(table.pair_pred.tolist(), table.pair_gt.tolist(), table.pair_iou.tolist()))
    np.testing.assert_allclose(np.array(found), np.array(pairs), rtol=1e-12)
    assert table.n_fg_class == 3
    assert table.n_positive.sum() == gt_row


def test_crowds_are_measured_against_the_detection_and_are_not_to_be_found():
    photo = ([[[0, 0, 4, 4]]], [[0]], [[0.9]], [[[0, 0, 8, 8]]], [[0]])
    assert DetectionTable.of_bboxes(*photo).pair_iou.tolist() == [0.25]
    for flags, iou in (({"gt_crowdeds": [[True]]}, 1), ({"gt_difficults": [[True]]}, 0.25)):
        table = DetectionTable.of_bboxes(*photo, **flags)
        assert table.pair_iou.tolist() == [iou]
        assert table.n_positive.tolist() == [0]


def test_masks_make_the_same_table():
    mask = np.zeros((2, 9, 9), bool)
    mask[0, :4, :4] = mask[1, :4, :8] = True
    for masks in (mask, RLEs.from_masks(mask)):
        table = DetectionTable.of_masks([masks], [[0, 1]], [[0.5, 0.6]], [masks[:1]], [[1]], n_fg_class=5)
        assert list(zip(table.pair_pred, table.pair_gt, table.pair_iou)) == [(0, 0, 1), (1, 0, 0.5)]
        assert table.n_fg_class == 5
    with pytest.raises(ShapeError, match="masks of image 1"):
        DetectionTable.of_masks([mask] * 2, [[0, 0]] * 2, [[1, 1]] * 2, [mask, mask[:, :8]], [[0, 0]] * 2)


def test_a_class_beyond_the_last_is_refused():
    with pytest.raises(ValueRangeError, match="out of range"):
        DetectionTable.of_bboxes([[[0, 0, 4, 4]]], [[3]], [[0.9]], [[]], [[]], n_fg_class=3)


def test_the_surest_detection_chooses_first_among_what_is_free():
    gt = [[0, 0, 10, 10], [0, 0, 10, 8]]
    pred = [[0, 0, 10, 10], [0, 0, 10, 9.9], [0, 0, 10, 9.8], [0, 0, 10, 10]]
    table = DetectionTable.of_bboxes([pred], [[0, 0, 0, 1]], [[0.5, 0.9, 0.4, 0.95]], [gt], [[0, 0]])
    match, found = match_detections(table)
    assert match.tolist() == [1, 1, 0, 0]
    assert found.tolist() == [1, 0, -1, -1]  # the better box came too late for the first object, and takes the other


def test_a_detection_on_an_ignored_object_is_not_counted_unless_it_finds_another():
    gt = [[0, 0, 10, 10], [0, 0, 10, 9]]
    table = DetectionTable.of_bboxes(
        [[[0, 0, 10, 10]] * 3], [[0] * 3], [[0.9, 0.8, 0.7]], [gt], [[0, 0]], gt_difficults=[[True, False]]
    )
    assert match_detections(table)[0].tolist() == [1, -1, -1]


@pytest.mark.parametrize("iou_thresh", [0.05, 1.5, np.nan])
def test_thresholds_that_the_table_cannot_answer_are_refused(iou_thresh):
    table = DetectionTable.of_bboxes([], [], [], [], [])
    assert match_detections(table)[0].shape == (0,)
    with pytest.raises(ValueRangeError):
        match_detections(table, iou_thresh=iou_thresh)


POSE = np.array([[[4.0, 2.0], [8.0, 6.0], [1.0, 1.0]]])


def pose_table(pred, gt=POSE, visible=((True, True, False),), **more):
    bbox, area = [[0.0, 0.0, 10.0, 10.0]], [100.0]
    columns = ([pred], [[0] * len(pred)], [[0.5] * len(pred)], [gt], [visible], [bbox], [[0]], [area])
    return DetectionTable.of_points(*columns, **{"sigmas": (0.1, 0.05, 0.1), "n_fg_class": 2} | more)


def test_points_overlap_by_cocos_similarity_of_the_visible_ones():
    moved = POSE + np.array([[[0.0, 1.0], [1.0, 0.0], [50.0, 50.0]]])
    table = pose_table(np.concatenate((POSE, moved, POSE + 90)))
    expected = np.mean(np.exp([-1 / (0.2**2 * 100 * 2), -1 / (0.1**2 * 100 * 2)]))
    assert table.pair_pred.tolist() == [0, 1]
    np.testing.assert_allclose(table.pair_iou, [1, expected], rtol=1e-12)
    assert table.n_positive.tolist() == [1, 0]


def test_poses_that_nobody_sees_and_crowds_are_not_to_be_found():
    assert pose_table(POSE, visible=((False,) * 3,)).n_positive.tolist() == [0, 0]
    assert pose_table(POSE, gt_crowdeds=[[True]]).n_positive.tolist() == [0, 0]


def test_poses_of_another_number_of_points_are_refused():
    with pytest.raises(ShapeError, match="pred_points of image 0"):
        pose_table(POSE[:, :2])
    with pytest.raises(ValueRangeError, match="gt_points of image 0"):
        pose_table(POSE, POSE * np.nan)
    with pytest.raises(ShapeError, match="gt_visibles of image 0"):
        pose_table(POSE, visible=((True, True),))
    assert len(pose_table(POSE[:0]).pair_iou) == 0
