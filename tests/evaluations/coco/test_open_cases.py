"""Every COCO case of the shared folder: within 1e-12 of the reference, and the same bits for boxes and masks."""

import gzip
import hashlib
import json

import numpy as np
import pytest

from cvzoo.evaluations.coco import (
    LVIS_KEYS,
    COCODetections,
    COCOGroundTruth,
    COCOParameters,
    evaluate_coco,
    evaluate_lvis,
)

NAMES = {
    "iouThrs": "iou_thrs",
    "maxDets": "max_dets",
    "areaRng": "area_rng",
    "areaRngLbl": "area_rng_lbl",
    "useCats": "use_cats",
    "imgIds": "img_ids",
    "catIds": "cat_ids",
}
JSON_CASES = [
    "area_borders",
    "basic",
    "basic_ties",
    "box_bits",
    "crowd",
    "custom_params",
    "degenerate",
    "empty_mix",
    "gt_id_zero",
    "ignore_field",
    "iou_on_threshold",
    "keypoints",
    "large_ids",
    "many_dets",
    "maxdets_big",
    "real_coco100_bbox",
    "real_coco100_segm",
    "recall_grid",
    "score_bits",
    "segm",
    "segm_as_bbox",
    "segm_both",
    "segm_box_only",
    "segm_medium",
    "segm_small",
    "subset_ids",
    "ties",
    "use_cats_0",
]
COLUMNS = ["bbox_200x20_hard", "bbox_500x80", "bbox_5000x80"]


def load(shared, name):
    with gzip.open(shared / "eval_cases" / "open" / f"{name}.json.gz") as file:
        return json.load(file)


def expected(shared, name):
    return dict(np.load(shared / "eval_cases" / "open" / f"{name}.expected.npz"))


def parameters(case, corrections=()):
    given = {NAMES[name]: value for name, value in case["params"].items()}
    return COCOParameters(iou_type=case["iou_type"], accept=("unknown_class",), corrections=corrections, **given)


def assert_equals(result, want, *, bits, prefix=""):
    assert result.precision.shape == tuple(want["shape"])
    weights = (np.arange(result.precision.shape[1]) + 1.0) / result.precision.shape[1]
    for name, got in (
        ("recall", result.recall),
        ("prec_mean", result.precision.mean(axis=1)),
        ("prec_wsum", np.tensordot(weights, result.precision, (0, 1))),
        ("score_mean", result.scores.mean(axis=1)),
        ("score_wsum", np.tensordot(weights, result.scores, (0, 1))),
        ("stats", result.stats),
        ("class_ap", np.nan_to_num(result.class_ap, nan=-1)),
    ):
        if prefix + name not in want:  # the mended numbers of the id 0 come without those of classes
            continue
        np.testing.assert_allclose(got, want[prefix + name], rtol=1e-12, atol=1e-12, err_msg=name)
    if bits:
        for name in ("precision", "recall", "scores"):
            array = np.ascontiguousarray(getattr(result, name))
            assert hashlib.sha256(array.tobytes()).digest() == want[f"{prefix}sha_{name}"].tobytes(), name


@pytest.mark.parametrize("name", JSON_CASES)
def test_case_has_the_reference_numbers(shared, name):
    case = load(shared, name)
    texts = (json.dumps(case[part]).encode() for part in ("gt", "dt"))
    result = evaluate_coco(*texts, parameters(case))
    assert_equals(result, expected(shared, name), bits=case["iou_type"] != "keypoints")


@pytest.mark.parametrize("name", ["ties", "segm", "keypoints"])
def test_dictionaries_give_the_same_as_text(shared, name):
    case = load(shared, name)
    assert_equals(evaluate_coco(case["gt"], case["dt"], parameters(case)), expected(shared, name), bits=False)


def test_id_zero_is_mended_by_name(shared):
    case, want = load(shared, "gt_id_zero"), expected(shared, "gt_id_zero")
    result = evaluate_coco(case["gt"], case["dt"], parameters(case, ("gt_id_zero",)))
    assert not np.array_equal(want["stats"], want["fixed_stats"])
    assert_equals(result, want, bits=True, prefix="fixed_")


def columns_of(shared, name):
    with np.load(shared / "eval_cases" / "open" / f"{name}.npz") as file:
        c = {key: file[key].astype(np.int64) for key in file.files if key != "kind"}
    gt = COCOGroundTruth(
        img_ids=c["img_ids"],
        cat_ids=c["cat_ids"],
        image_id=c["gt_img"],
        category_id=c["gt_cat"],
        bbox=c["gt_box100"] / 100,
        area=c["gt_area100"] / 100,
        crowd=c["gt_crowd"] != 0,
    )
    dt = COCODetections(
        image_id=c["dt_img"], category_id=c["dt_cat"], score=c["dt_score"] / 100000, bbox=c["dt_box100"] / 100
    )
    return gt, dt


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_have_the_reference_numbers(shared, name):
    assert_equals(evaluate_coco(*columns_of(shared, name)), expected(shared, name), bits=True)


@pytest.mark.parametrize("kind", ["bbox", "segm"])
def test_lvis_has_the_reference_bits(shared, kind):
    case, want = load(shared, f"real_lvis100_{kind}"), expected(shared, f"real_lvis100_{kind}")
    result = evaluate_lvis(json.dumps(case["gt"]).encode(), case["dt"], iou_type=kind)
    assert list(result.summary) == list(LVIS_KEYS) == want["names"].tolist()
    # the means add up in an order that NumPy chose: it differs from version to version
    np.testing.assert_allclose(result.stats, want["stats"], rtol=0, atol=1e-12)
    for name, array in (("precision", result.coco.precision), ("recall", result.coco.recall)):
        text = np.ascontiguousarray(array[..., 0]).tobytes()
        assert hashlib.sha256(text).digest() == want[f"sha_{name}"].tobytes(), name
