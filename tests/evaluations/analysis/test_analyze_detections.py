import json

import numpy as np
import pytest

from cvzoo.errors.exceptions import ShapeError
from cvzoo.evaluations.analysis.analyze_detections import analyze_detections

NAMES, PHOTOS = ("cat", "dog", "fox"), ["a.jpg", "b.jpg", "c.jpg"]


def scene():
    """a: a cat found, a dog taken for a cat. b: two cats, one found twice, one missed. c: a cat where nothing is."""
    pred = [
        ([[0, 0, 10, 10], [20, 20, 40, 40]], [0, 0], [0.9, 0.8]),
        ([[0, 0, 10, 10], [0, 0, 10, 9]], [0, 0], [0.95, 0.85]),
        ([[50, 50, 60, 60]], [0], [0.05]),
    ]
    gt = [([[0, 0, 10, 10], [20, 20, 40, 40]], [0, 1]), ([[0, 0, 10, 10], [30, 30, 50, 50]], [0, 0]), ([], [])]
    columns = [[np.array(photo[k], np.float32) for photo in pred] for k in range(3)]
    columns += [[np.array(photo[k], np.float32) for photo in gt] for k in range(2)]
    columns[3] = [bbox.reshape(-1, 4) for bbox in columns[3]]
    columns[1] = [label.astype(np.int32) for label in columns[1]]
    columns[4] = [label.astype(np.int32) for label in columns[4]]
    return columns


@pytest.fixture(scope="module")
def analysis():
    return analyze_detections(*scene(), label_names=NAMES, photos=PHOTOS)


def test_each_error_has_its_kind(analysis):
    counts = {each["type"]: each["count"] for each in analysis["errors"]["types"]}
    assert counts == {
        "classification": 1, "localization": 0, "both": 0, "duplicate": 1, "background": 1, "missed": 1
    }  # fmt: skip


def test_the_best_threshold_of_cats_lets_both_hits_and_nothing_else_pass(analysis):
    cat, dog, fox = analysis["thresholds"]["classes"]
    assert cat["f1_score"] == pytest.approx(0.9)
    assert (cat["f1_precision"], cat["f1_recall"]) == (1.0, pytest.approx(2 / 3))
    assert cat["wished_score"] == pytest.approx(0.9)
    assert dog["f1"] is None
    assert fox["f1"] is None


def test_the_confusion_counts_from_the_best_threshold_on(analysis):
    confusion = analysis["confusion"]
    assert confusion["names"] == ["cat", "dog", "fox", "background"]
    assert confusion["counts"] == [[2, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]]


def test_the_worst_photos_come_first_and_say_what_is_wrong(analysis):
    worst = analysis["worst_photos"]
    assert [(each["photo"], each["n_right"], each["n_wrong"], each["n_missed"]) for each in worst] == [
        ("a.jpg", 1, 0, 1),
        ("b.jpg", 1, 0, 1),
    ]
    missed = [box for box in worst[1]["boxes"] if box["verdict"] == "missed"]
    assert missed == [
        {"verdict": "missed", "error": None, "label": "cat", "score": None,
         "y_min": 30.0, "x_min": 30.0, "y_max": 50.0, "x_max": 50.0}
    ]  # fmt: skip


def test_curves_have_101_recalls(analysis):
    curves = analysis["pr_curves"]
    assert len(curves["recall"]) == len(curves["mean"]["0.50"]) == 101
    assert [each["label"] for each in curves["classes"]] == ["cat", "dog"]
    assert curves["classes"][0]["precision"][0] == 1.0
    assert curves["classes"][0]["precision"][-1] == 0.0


def test_scores_beyond_one_have_no_reliability():
    columns = scene()
    columns[2][0] = columns[2][0] * 10
    assert analyze_detections(*columns, label_names=NAMES, images=PHOTOS)["reliability"] is None


def test_all_of_it_is_json(analysis):
    assert json.loads(json.dumps(analysis, allow_nan=False)) == analysis


def test_no_detections_and_no_photos_are_no_error():
    columns = scene()
    none = [[np.zeros((0, 4))] * 3, [np.zeros(0, np.int32)] * 3, [np.zeros(0)] * 3]
    found = analyze_detections(*none, *columns[3:], label_names=NAMES, images=PHOTOS)
    json.dumps(found, allow_nan=False)
    assert found["worst_photos"][0]["n_missed"] == 2
    json.dumps(analyze_detections([], [], [], [], [], label_names=NAMES, photos=[]), allow_nan=False)


def test_ignored_objects_are_neither_missed_nor_wrongly_found():
    columns = scene()
    crowds = [np.array([False, True]), np.array([False, True]), np.zeros(0, bool)]
    found = analyze_detections(*columns, gt_crowdeds=crowds, label_names=NAMES, images=PHOTOS)
    assert {each["type"]: each["count"] for each in found["errors"]["types"]}["missed"] == 0


def test_as_many_names_as_photos():
    with pytest.raises(ShapeError, match="images"):
        analyze_detections(*scene(), label_names=NAMES, images=PHOTOS[:2])
