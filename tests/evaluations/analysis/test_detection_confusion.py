"""Which class a detector takes objects for."""

import numpy as np
import pytest

from cvzoo.evaluations.analysis import DetectionTable, calc_detection_confusion

A, B, C = [0, 0, 10, 10], [20, 20, 30, 30], [40, 40, 50, 50]
NEAR_A = [0, 0, 10, 9]


def confusion(pred, gt, difficult=None, **settings):
    """From (box, label, score) and (box, label) lists of one photo, two classes."""
    table = DetectionTable.of_bboxes(
        [[each[0] for each in pred]],
        [[each[1] for each in pred]],
        [[each[2] for each in pred]],
        [[each[0] for each in gt]],
        [[each[1] for each in gt]],
        gt_difficults=None if difficult is None else [difficult],
        n_fg_class=2,
    )
    return calc_detection_confusion(table, **settings).tolist()


@pytest.mark.parametrize(
    ("pred", "gt", "expected"),
    [
        ([], [], [[0, 0, 0], [0, 0, 0], [0, 0, 0]]),
        ([(A, 0, 0.9)], [(A, 0)], [[1, 0, 0], [0, 0, 0], [0, 0, 0]]),
        ([(A, 1, 0.9)], [(A, 0)], [[0, 1, 0], [0, 0, 0], [0, 0, 0]]),
        ([(B, 1, 0.9)], [(A, 0)], [[0, 0, 1], [0, 0, 0], [0, 1, 0]]),
        ([(A, 0, 0.2)], [(A, 0)], [[0, 0, 1], [0, 0, 0], [0, 0, 0]]),  # not sure enough
        # its own class comes first, though the other detection is surer and overlaps more
        ([(A, 1, 0.9), (NEAR_A, 0, 0.5)], [(A, 0)], [[1, 0, 0], [0, 0, 0], [0, 1, 0]]),
        # of two classes for two objects, each object gets one
        ([(A, 1, 0.9), (A, 0, 0.5)], [(A, 0), (NEAR_A, 0)], [[1, 1, 0], [0, 0, 0], [0, 0, 0]]),
        ([(A, 0, 0.9), (A, 0, 0.8)], [(A, 0)], [[1, 0, 0], [0, 0, 0], [1, 0, 0]]),  # a double
        ([(A, 0, 0.9), (B, 1, 0.9), (C, 0, 0.9)], [(A, 0), (B, 1), (C, 1)], [[1, 0, 0], [1, 1, 0], [0, 0, 0]]),
    ],
)
def test_confusions_by_hand(pred, gt, expected):
    assert confusion(pred, gt) == expected


def test_ignored_objects_are_neither_missed_nor_confused():
    assert confusion([(A, 0, 0.9)], [(A, 0), (B, 1)], [True, True]) == [[0] * 3] * 3
    assert confusion([(A, 1, 0.9)], [(A, 0)], [True]) == [[0, 0, 0], [0, 0, 0], [0, 1, 0]]


def test_thresholds_may_differ_by_class():
    pred, gt = [(A, 0, 0.5), (B, 1, 0.5)], [(A, 0), (B, 1)]
    assert confusion(pred, gt, score_thresh=[0.4, 0.6]) == [[1, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert confusion(pred, [(NEAR_A, 0)], score_thresh=0, iou_thresh=0.95) == [[0, 0, 1], [0, 0, 0], [1, 1, 0]]


def test_rows_add_up_to_the_objects_and_columns_to_the_detections():
    rng = np.random.default_rng(0)
    corner = rng.uniform(0, 40, (200, 2))
    bbox = np.concatenate([corner, corner + rng.uniform(5, 20, (200, 2))], axis=1)
    label, score = rng.integers(0, 4, 200), rng.random(200)
    table = DetectionTable.of_bboxes([bbox[:120]], [label[:120]], [score[:120]], [bbox[120:]], [label[120:]])
    matrix = calc_detection_confusion(table, score_thresh=0.3)
    np.testing.assert_array_equal(matrix[:-1].sum(axis=1), table.n_positive)
    np.testing.assert_array_equal(matrix[:, :-1].sum(axis=0), np.bincount(label[:120][score[:120] >= 0.3]))
    assert matrix[-1, -1] == 0
