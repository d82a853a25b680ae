"""Kinds of errors and what they cost."""

import gzip
import json

import numpy as np
import pytest

from cvzoo.errors import ValueRangeError
from cvzoo.evaluations.analysis import DetectionTable, calc_error_types
from cvzoo.evaluations.analysis.error_types import ERRORS
from cvzoo.geometry import from_xywh

A, B, C = [0, 0, 10, 10], [20, 20, 30, 30], [40, 40, 50, 50]
HALF_A = [0, 0, 10, 4]  # overlaps A by 0.4


def errors(pred, gt, difficult=None):
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
    return calc_error_types(table)


@pytest.mark.parametrize(
    ("pred", "gt", "kinds", "n_missed"),
    [
        ([(A, 0, 0.9)], [(A, 0)], [None], 0),
        ([(HALF_A, 0, 0.9)], [(A, 0)], ["localization"], 0),
        ([(A, 1, 0.9)], [(A, 0)], ["classification"], 0),
        ([(HALF_A, 1, 0.9)], [(A, 0)], ["both"], 1),
        ([(B, 0, 0.9)], [(A, 0)], ["background"], 1),
        ([(A, 0, 0.9), (A, 0, 0.8)], [(A, 0)], [None, "duplicate"], 0),
        ([(A, 0, 0.9), (HALF_A, 0, 0.8)], [(A, 0)], [None, "localization"], 0),
        ([], [(A, 0), (B, 1)], [], 2),
        ([(A, 0, 0.9)], [], ["background"], 0),
        ([(HALF_A, 0, 0.9)], [(A, 0), (HALF_A, 1)], ["localization"], 1),  # localization is asked for first
    ],
)
def test_kinds_by_hand(pred, gt, kinds, n_missed):
    found = errors(pred, gt)
    assert [None if code < 0 else ERRORS[code] for code in found.error] == kinds
    assert found.missed.sum() == found.counts["missed"] == n_missed
    assert all(found.counts[kind] == kinds.count(kind) for kind in ERRORS)


@pytest.mark.parametrize(
    ("pred", "gt", "ap", "kind", "gain"),
    [
        ([(HALF_A, 0, 0.9)], [(A, 0)], 0, "localization", 1),
        ([(A, 1, 0.9)], [(A, 0)], 0, "classification", 1),
        # the object is found already: mending drops the wrong one
        ([(HALF_A, 0, 0.9), (A, 0, 0.8)], [(A, 0)], 0.5, "localization", 0.5),
        # two mean the same object: the surer is mended, the other dropped
        ([(HALF_A, 0, 0.9), (HALF_A, 0, 0.8)], [(A, 0)], 0, "localization", 1),
        ([(A, 0, 0.9), (A, 0, 0.8), (B, 0, 0.7)], [(A, 0), (B, 0)], (51 + 50 * 2 / 3) / 101, "duplicate", 50 / 303),
        ([(C, 0, 0.9), (A, 0, 0.8)], [(A, 0)], 0.5, "background", 0.5),
        ([(HALF_A, 1, 0.9), (B, 1, 0.8)], [(A, 0), (B, 1)], 0.25, "both", 0.25),
        ([(A, 0, 0.9)], [(A, 0), (B, 0)], 51 / 101, "missed", 50 / 101),
        ([(C, 0, 0.9), (A, 0, 0.8)], [(A, 0)], 0.5, "false_positive", 0.5),
        ([(A, 0, 0.9)], [(A, 0), (B, 0)], 51 / 101, "false_negative", 50 / 101),
    ],
)
def test_gains_by_hand(pred, gt, ap, kind, gain):
    found = errors(pred, gt)
    assert found.ap == pytest.approx(ap, abs=1e-12)
    assert found.d_ap[kind] == pytest.approx(gain, abs=1e-12)


def test_a_perfect_detector_has_nothing_to_gain():
    found = errors([(A, 0, 0.9), (B, 1, 0.8)], [(A, 0), (B, 1)])
    assert found.ap == 1
    assert set(found.d_ap.values()) == {0}


def test_ignored_objects_make_no_errors():
    found = errors([(A, 0, 0.9)], [(A, 0), (B, 0)], [True, False])
    assert found.error.tolist() == [-1]
    assert found.missed.tolist() == [False, True]


def test_random_detections_all_have_one_kind():
    rng = np.random.default_rng(0)
    corner = rng.uniform(0, 90, (300, 2))
    bbox = np.concatenate([corner, corner + rng.uniform(5, 20, (300, 2))], axis=1)
    bbox[100:150] = bbox[50:100] = bbox[:50] + rng.uniform(-1, 1, (50, 4))
    label, score = rng.integers(0, 3, 300), rng.random(300)
    table = DetectionTable.of_bboxes([bbox[50:]], [label[50:]], [score[50:]], [bbox[:50]], [label[:50]])
    found = calc_error_types(table)
    assert sum(found.counts[kind] for kind in ERRORS) == (found.error >= 0).sum()
    assert all(found.counts[kind] for kind in ERRORS)
    assert ((found.target >= 0) == np.isin(found.error, [0, 1])).all()
    assert all(gain >= 0 for gain in found.d_ap.values())


@pytest.mark.parametrize(("name", "counts"), [("real_coco100_bbox", (83, 1, 0, 1, 0, 97))])
def test_real_photos_have_the_counts_that_tidecv_gives(shared, name, counts):
    folder = shared / "eval_cases" / "open"
    with gzip.open(folder / f"{name}.json.gz") as file:
        case = json.load(file)
    photos = [photo["id"] for photo in case["gt"]["images"]]
    classes = sorted(each["id"] for each in case["gt"]["categories"])

    def column(records, value, dtype):
        rows = {photo: [] for photo in photos}
        for record in records:
            rows[record["image_id"]].append(value(record))
        return [np.array(rows[photo], dtype) for photo in photos]

    def joined(records):
        boxes = [from_xywh(each) for each in column(records, lambda each: each["bbox"], float)]
        return boxes, column(records, lambda each: classes.index(each["category_id"]), int)

    objects = case["gt"]["annotations"]
    table = DetectionTable.of_bboxes(
        *joined(case["dt"]),
        column(case["dt"], lambda each: each["score"], float),
        *joined(objects),
        gt_crowdeds=column(objects, lambda each: each["iscrowd"], bool),
    )
    found = calc_error_types(table)
    assert tuple(found.counts.values()) == counts
    with np.load(folder / f"{name}.expected.npz") as expected:
        assert found.ap == pytest.approx(float(expected["stats"][1]), abs=1e-12)


@pytest.mark.parametrize(("low", "high"), [(0.05, 0.5), (0.6, 0.5), (0.1, 1.1), (np.nan, 0.5)])
def test_thresholds_must_rise(low, high):
    with pytest.raises(ValueRangeError):
        calc_error_types(DetectionTable.of_bboxes([], [], [], [], []), iou_thresh=high, background_thresh=low)
