import dataclasses
import json

import numpy as np
import pytest

from cvzoo.errors.exceptions import FileFormatError, ValueRangeError
from cvzoo.evaluations.coco.detections import COCODetections
from cvzoo.evaluations.coco.evaluate import evaluate_coco
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.explain.coco_rules import coco_rules
from cvzoo.evaluations.explain.explain_coco import explain_coco
from cvzoo.evaluations.explain.read_scores import read_scores


@pytest.fixture(scope="module")
def case():
    """Thirty photos with crowds, an object of id 0, boxes on thresholds and many equal scores."""
    rng = np.random.default_rng(3)
    n, n_found = 150, 400
    low = rng.integers(0, 200, (n, 2))
    bbox = np.concatenate((low, rng.integers(4, 120, (n, 2))), axis=1).astype(np.float64)
    image = rng.integers(1, 31, n)
    cats = rng.integers(1, 5, n)
    of = rng.integers(0, n, n_found)
    wrong = rng.random(n_found) < 0.15
    gt = COCOGroundTruth(
        img_ids=np.arange(1, 36),
        cat_ids=np.arange(1, 6),
        image_id=image,
        category_id=cats,
        bbox=bbox,
        area=bbox[:, 2] * bbox[:, 3] * rng.uniform(0.4, 0.9, n),
        crowd=rng.random(n) < 0.08,
        ignore=rng.random(n) < 0.1,
        ids=np.arange(n),
    )
    dt = COCODetections(
        image_id=image[of],
        category_id=np.where(wrong, cats[of] % 4 + 1, cats[of]),
        score=rng.integers(1, 40, n_found) / 40,
        bbox=np.maximum(np.round(bbox[of] + rng.normal(0, 6, (n_found, 4))), 0),
    )
    return gt, dt, COCOParameters()


@pytest.mark.parametrize(
    "name",
    [
        "gt_id_zero",
        "ignore_field",
        "use_cats",
        "max_dets_10",
        "crowds_dropped",
        "crowds_as_objects",
        "box_areas",
        "plus_one",
        "ties_reversed",
        "score_0.25",
    ],
)
def test_the_rule_that_makes_the_difference_is_found(case, name):
    rule = next(rule for rule in coco_rules(case[2]) if rule.name == name)
    other = evaluate_coco(*rule.apply(*case)).summary
    found = explain_coco(*case[:2], {key: round(value, 4) for key, value in other.items()}, case[2])
    assert [each.name for each in found.found] == [name]
    assert name in found.verdict
    assert rule.words in str(found)


def test_two_rules_together_are_found(case):
    rules = {rule.name: rule for rule in coco_rules(case[2])}
    other = evaluate_coco(*rules["score_0.25"].apply(*rules["crowds_dropped"].apply(*case))).summary
    found = explain_coco(*case[:2], other, case[2])
    assert sorted(each.name for each in found.found) == ["crowds_dropped", "score_0.25"]


def test_equal_scores_need_no_rule_even_when_they_are_rounded(case):
    ours = evaluate_coco(*case).summary
    for digits in (3, 5, 17):
        found = explain_coco(*case[:2], {key: round(value, digits) for key, value in ours.items()})
        assert found.verdict.startswith("no difference")
        assert not found.tried
        assert not found.found


def test_a_difference_of_less_than_the_last_digit_is_none_and_of_more_is_one(case):
    ours = evaluate_coco(*case).summary
    near = {key: round(value, 3) + 0.001 for key, value in ours.items()}
    found = explain_coco(*case[:2], near)
    assert found.distance > found.tolerance
    assert "no rule" in found.verdict


@pytest.mark.parametrize(
    ("text", "tolerance"), [("0.13", 0.005), ("0.130", 0.0005), ("12.9", 0.0005), ("0.1", 0.05), ("1", 0.05)]
)
def test_the_tolerance_is_half_a_unit_of_the_last_digit_that_is_written(tmp_path, text, tolerance):
    (tmp_path / "o.json").write_text(f'{{"AP": {text}}}')
    assert read_scores(tmp_path / "o.json").tolerance == pytest.approx(tolerance, abs=2e-9)


def test_a_score_that_rounds_to_another_number_differs():
    # 0.1249 rounds to 0.12, 0.125 may be either, by the way of rounding
    for other, is_same in ((0.13, False), (0.12, True)):
        distance = abs(0.1249 - other)
        assert (distance <= read_scores({"AP": other}).tolerance) is is_same
    assert abs(0.125 - 0.13) <= read_scores({"AP": 0.13}).tolerance


def test_a_correction_that_we_made_is_named_when_the_other_did_not(case):
    corrected = dataclasses.replace(case[2], corrections=("ignore_field",))
    other = evaluate_coco(*case).summary
    found = explain_coco(*case[:2], other, corrected)
    assert [each.name for each in found.found] == ["ignore_field"]
    assert "pycocotools" in found.verdict


def test_what_json_holds_is_json(case):
    other = evaluate_coco(*case).summary | {"AP": 0.5}
    record = explain_coco(*case[:2], other, case[2]).to_dict()
    assert json.loads(json.dumps(record))["verdict"] == record["verdict"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"AP": 0.25, "AP50": 0.5, "seconds": 3.5}, {"AP": 0.25, "AP50": 0.5}),
        ({"bbox": {"AP": 25.0, "AP50": 50.0}}, {"AP": 0.25, "AP50": 0.5}),  # percent
        ({"bbox_mAP": 0.25, "bbox_mAP_50": 0.5, "bbox_mAP_s": 0.125}, {"AP": 0.25, "AP50": 0.5, "APs": 0.125}),
        (
            {"map": 0.25, "map_50": 0.5, "mar_100": 0.75, "map_small": -1.0},
            {"AP": 0.25, "AP50": 0.5, "AR100": 0.75, "APs": -1.0},
        ),
        ({"metrics/mAP50-95(B)": 0.25, "metrics/mAP50(B)": 0.5}, {"AP": 0.25, "AP50": 0.5}),
        ({"map/iou=0.50:0.95/area=all/max_dets=100": 0.25}, {"AP": 0.25}),
        ({"main/mar/iou=0.50:0.95/area=all/max_dets=10": 0.25}, {"AR10": 0.25}),
        ([0.1, 0.2, 0.3] + [0.5] * 9, {"AP": 0.1, "AP50": 0.2, "AP75": 0.3}),
    ],
)
def test_scores_go_by_the_names_that_others_give_them(source, expected):
    found = read_scores(source).scores
    assert {key: found[key] for key in expected} == pytest.approx(expected)


@pytest.mark.parametrize("source", [{}, [], [0.1, 0.2], {"AP": "high"}, {"AP": float("nan")}, {"AP": True}, "text"])
def test_what_holds_no_scores_is_refused(tmp_path, source):
    if source == "text":
        (tmp_path / "o.json").write_text("AP 0.5")
        source = tmp_path / "o.json"
    with pytest.raises(FileFormatError, match=r"has no scores|is not JSON"):
        read_scores(source)


def test_a_score_below_nothing_is_refused():
    with pytest.raises(ValueRangeError, match="AP50"):
        read_scores({"AP": 0.5, "AP50": -0.25})


def test_scores_of_another_kind_share_no_name(case):
    with pytest.raises(FileFormatError, match="no score in common"):
        explain_coco(*case[:2], {"AR75": 0.5}, case[2])
