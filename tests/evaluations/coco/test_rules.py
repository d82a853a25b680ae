"""The rules of COCO's evaluation, one small case each, worked out by hand."""

import json

import numpy as np
import pytest

from cvzoo.errors.exceptions import ConfigError, ValueRangeError
from cvzoo.evaluations.coco import BOX_KEYS, OKS_SIGMAS, POINT_KEYS, COCOParameters, evaluate_coco

# tp / (tp + fp + 2.2e-16): what the reference gives for a perfect precision
ONE = 1 / (1 + np.spacing(1))
# a mean of many of them may lose the last bit
PERFECT = pytest.approx(ONE, abs=2e-16)


def problem(objects, detections, *, n_images=3, n_classes=2):
    """A COCO dictionary and a results list from short records."""
    usual = {"image_id": 1, "category_id": 1, "iscrowd": 0}
    gt = {
        "images": [{"id": i + 1, "height": 100, "width": 100} for i in range(n_images)],
        "categories": [{"id": k + 1, "name": f"class {k + 1}"} for k in range(n_classes)],
        "annotations": [
            {"id": i + 1, "area": each["bbox"][2] * each["bbox"][3]} | usual | each for i, each in enumerate(objects)
        ],
    }
    return gt, [{"image_id": 1, "category_id": 1, "score": 0.9} | each for each in detections]


def ap(objects, detections, *, iou_thrs=(0.5,), **settings):
    """AP of class 1 at one threshold."""
    result = evaluate_coco(*problem(objects, detections), COCOParameters(iou_thrs=iou_thrs, **settings))
    return result.average_precision()[0]


BOX = [10, 10, 20, 20]
FAR = [60, 60, 20, 20]


@pytest.mark.parametrize(
    ("objects", "detections", "want"),
    [
        ([{"bbox": BOX}], [{"bbox": BOX}], ONE),
        ([{"bbox": BOX}], [{"bbox": FAR}], 0.0),
        ([{"bbox": BOX}], [{"bbox": BOX, "image_id": 2}], 0.0),  # the right place of another photo
        ([{"bbox": BOX}], [{"bbox": BOX, "category_id": 2}], 0.0),
        ([], [{"bbox": BOX}], np.nan),  # nothing to find
        ([{"bbox": BOX, "iscrowd": 1}], [{"bbox": BOX}], np.nan),  # nor is a crowd
        # a surer miss in front: half the precision everywhere
        ([{"bbox": BOX}], [{"bbox": FAR, "score": 0.95}, {"bbox": BOX}], 0.5),
        # a second detection of the same object is a miss, behind the hit
        ([{"bbox": BOX}], [{"bbox": BOX, "score": 0.95}, {"bbox": BOX}], ONE),
        # one of two found: recall 0, 0.01 ... 0.50 are reached, 51 of 101 points
        ([{"bbox": BOX}, {"bbox": FAR}], [{"bbox": BOX}], 51 / 101),
        # a detection in a crowd is not counted, however many there are: the hit behind it is the first
        (
            [{"bbox": BOX}, {"bbox": FAR, "iscrowd": 1}],
            [{"bbox": [60, 60, 5, 5], "score": 0.95}, {"bbox": [70, 70, 5, 5], "score": 0.94}, {"bbox": BOX}],
            ONE,
        ),
        # an overlap of exactly 0.5 counts
        ([{"bbox": [0, 0, 10, 10]}], [{"bbox": [0, 0, 10, 5]}], ONE),
        ([{"bbox": [0, 0, 10, 10]}], [{"bbox": [0, 0, 10, 4.999]}], 0.0),
    ],
)
def test_average_precision_at_one_half(objects, detections, want):
    np.testing.assert_allclose(ap(objects, detections), want, rtol=1e-15)


def test_a_perfect_precision_is_a_bit_below_one_as_in_the_reference():
    result = evaluate_coco(*problem([{"bbox": BOX}], [{"bbox": BOX}]))
    assert result.precision[:, :, 0, 0].min() == ONE < 1
    assert result.recall[:, 0, 0].min() == 1


def test_of_equal_overlaps_the_later_object_is_taken():
    # two objects that overlap the first detection alike; the second detection reaches the first object only
    objects = [{"bbox": [0, 0, 10, 10]}, {"bbox": [10, 0, 10, 10]}]
    detections = [{"bbox": [0, 0, 20, 10], "score": 0.95}, {"bbox": [0, 0, 10, 10]}]
    np.testing.assert_allclose(ap(objects, detections), ONE)
    np.testing.assert_allclose(ap(objects[::-1], detections), 51 / 101)


def test_equal_scores_keep_the_order_of_records_and_of_photos():
    hit, miss = {"bbox": BOX}, {"bbox": FAR}
    assert ap([{"bbox": BOX}], [hit, miss]) > ap([{"bbox": BOX}], [miss, hit]) == 0.5
    # over photos, the id decides and not the place in the file
    hit, miss = hit | {"image_id": 2}, miss | {"image_id": 1}
    assert ap([{"bbox": BOX, "image_id": 2}], [hit, miss]) == ap([{"bbox": BOX, "image_id": 2}], [miss, hit]) == 0.5


def test_a_found_object_outside_of_the_range_of_area_is_not_counted():
    objects = [{"bbox": [0, 0, 40, 40]}, {"bbox": [50, 50, 10, 10]}]
    gt, dt = problem(objects, [{"bbox": [0, 0, 40, 40], "score": 0.95}, {"bbox": [50, 50, 10, 10]}])
    result = evaluate_coco(gt, dt)
    assert result.n_objects.tolist() == [2, 0]
    np.testing.assert_allclose([result.summary[key] for key in ("APs", "APm")], ONE)
    assert result.summary["APl"] == -1


def test_both_ends_of_a_range_of_area_belong_to_it():
    gt, dt = problem([{"bbox": [0, 0, 32, 32]}], [{"bbox": [0, 0, 32, 32]}])
    result = evaluate_coco(gt, dt)
    assert result.summary["APs"] == result.summary["APm"] == PERFECT


def test_max_dets_counts_by_class_and_photo():
    detections = [{"bbox": FAR, "score": 0.95}, {"bbox": BOX}, {"bbox": BOX, "image_id": 2, "score": 0.1}]
    gt, dt = problem([{"bbox": BOX}, {"bbox": BOX, "image_id": 2}], detections)
    result = evaluate_coco(gt, dt)
    assert result.summary["AR1"] == 0.5
    assert result.summary["AR10"] == 1.0


def test_use_cats_false_finds_objects_whatever_they_are_called():
    objects, detections = [{"bbox": BOX}], [{"bbox": BOX, "category_id": 2}]
    assert ap(objects, detections) == 0
    result = evaluate_coco(*problem(objects, detections), COCOParameters(use_cats=False))
    assert result.cat_ids.tolist() == [-1]
    assert result.summary["AP"] == PERFECT


def test_without_classes_the_order_of_cat_ids_settles_ties():
    objects = [{"bbox": BOX}]
    detections = [{"bbox": BOX, "category_id": 2}, {"bbox": FAR, "category_id": 1}]  # of one score
    found = [ap(objects, detections, use_cats=False, cat_ids=cat_ids) for cat_ids in (None, (1, 2), (2, 1))]
    assert found == [pytest.approx(0.5), pytest.approx(0.5), PERFECT]
    with pytest.raises(ConfigError, match="repeat"):
        COCOParameters(use_cats=False, cat_ids=(1, 2, 1))


@pytest.mark.parametrize("thrs", [(0.0,), (0.0, 0.5)])
def test_a_threshold_of_zero_matches_boxes_that_do_not_meet(thrs):
    gt, dt = problem([{"bbox": BOX}], [{"bbox": FAR}])
    result = evaluate_coco(gt, dt, COCOParameters(iou_thrs=thrs))
    assert result.average_precision(iou_thr=0.0)[0] == PERFECT


def test_a_threshold_of_one_is_met_by_the_same_box():
    assert ap([{"bbox": BOX}], [{"bbox": BOX}], iou_thrs=(1.0,)) == PERFECT


def test_recall_points_that_start_above_zero():
    values = ap([{"bbox": BOX}, {"bbox": FAR}], [{"bbox": BOX}], rec_thrs=(0.25, 0.5, 0.75, 1.0))
    np.testing.assert_allclose(values, 0.5)


@pytest.mark.parametrize("where", ["subset", "everything"])
def test_a_subset_of_photos_and_classes(where):
    objects = [{"bbox": BOX}, {"bbox": BOX, "image_id": 2}, {"bbox": BOX, "category_id": 2}]
    gt, dt = problem(objects, [{"bbox": BOX}])
    chosen = {"img_ids": [1, 1], "cat_ids": [1]} if where == "subset" else {}
    result = evaluate_coco(gt, dt, COCOParameters(**chosen))
    assert result.cat_ids.tolist() == ([1] if where == "subset" else [1, 2])
    assert result.n_objects.sum() == (1 if where == "subset" else 3)


def test_masks_take_runs_strings_and_polygons():
    square = [10, 10, 10, 30, 30, 30, 30, 10]
    objects = [
        {"bbox": BOX, "segmentation": [square]},
        {
            "bbox": BOX,
            "image_id": 2,
            "segmentation": {"size": [100, 100], "counts": [1010] + [20, 80] * 19 + [20, 7070]},
        },
    ]
    runs = {"size": [100, 100], "counts": [1010] + [20, 80] * 19 + [20, 7070]}
    found = [{"segmentation": runs}, {"segmentation": runs, "image_id": 2}]
    result = evaluate_coco(*problem(objects, found), COCOParameters(iou_type="segm"))
    np.testing.assert_allclose(result.summary["AP"], ONE)


def test_a_detection_may_cover_a_part_of_a_crowd_of_masks():
    crowd = {"size": [100, 100], "counts": [0, 10000]}
    objects = [{"bbox": BOX, "segmentation": [[10, 10, 10, 30, 30, 30, 30, 10]]}]
    objects += [{"bbox": [0, 0, 100, 100], "iscrowd": 1, "segmentation": crowd}]
    found = [
        {"segmentation": {"size": [100, 100], "counts": [0, 10, 9990]}, "score": 0.99},
        {"segmentation": {"size": [100, 100], "counts": [1010] + [20, 80] * 19 + [20, 7070]}},
    ]
    result = evaluate_coco(*problem(objects, found), COCOParameters(iou_type="segm"))
    np.testing.assert_allclose(result.summary["AP"], ONE)


def pose(x, y, n=17):
    return [number for i in range(n) for number in (x + i, y + 2 * i, 2)]


def test_points_that_are_off_by_some_sigmas():
    # every point off by d: the similarity is the mean of exp(-d**2 / (8 area sigma**2))
    gt, dt = problem(
        [{"bbox": BOX, "area": 400.0, "keypoints": pose(10, 10), "num_keypoints": 17}], [{"keypoints": pose(12, 10)}]
    )
    oks = np.exp(-(2.0**2) / (8 * 400.0 * OKS_SIGMAS**2)).mean()
    for thr, want in ((oks - 1e-6, PERFECT), (oks + 1e-6, 0.0)):
        result = evaluate_coco(gt, dt, COCOParameters(iou_type="keypoints", iou_thrs=(thr,)))
        assert result.average_precision()[0] == want
    assert list(evaluate_coco(gt, dt, COCOParameters(iou_type="keypoints")).summary) == list(POINT_KEYS)


def test_an_object_without_points_is_not_to_be_found_but_shields_detections_near_it():
    blank = {"keypoints": [0] * 51, "num_keypoints": 0, "bbox": [50, 50, 40, 40], "area": 1600.0}
    seen = {"keypoints": pose(10, 10), "num_keypoints": 17, "bbox": BOX, "area": 400.0}
    gt, dt = problem([seen, blank], [{"keypoints": pose(60, 55), "score": 0.95}, {"keypoints": pose(10, 10)}])
    result = evaluate_coco(gt, dt, COCOParameters(iou_type="keypoints"))
    assert result.summary["AP"] == PERFECT
    assert result.n_objects.tolist() == [1, 0]


def test_sigmas_are_as_many_as_points():
    gt, dt = problem([{"bbox": BOX, "keypoints": pose(1, 1, 5), "num_keypoints": 5}], [{"keypoints": pose(1, 1, 5)}])
    with pytest.raises(ValueError, match="5 keypoints for 17 sigmas"):
        evaluate_coco(gt, dt, COCOParameters(iou_type="keypoints"))
    result = evaluate_coco(gt, dt, COCOParameters(iou_type="keypoints", kpt_oks_sigmas=[0.05] * 5))
    assert result.summary["AP"] == PERFECT


def test_the_object_with_the_id_zero():
    gt, dt = problem([{"bbox": BOX, "id": 0}], [{"bbox": BOX}])
    result = evaluate_coco(gt, dt)
    assert result.summary["AP"] == 0
    assert any("gt_id_zero" in note and "a miss" in note for note in result.notes)
    result = evaluate_coco(gt, dt, COCOParameters(corrections=("gt_id_zero",)))
    assert result.summary["AP"] == PERFECT
    assert any("corrected" in note for note in result.notes)


def test_the_object_with_the_id_zero_among_others_still_takes_its_detection():
    objects = [{"bbox": BOX, "id": 0}, {"bbox": [12, 10, 20, 20], "id": 1}]
    gt, dt = problem(objects, [{"bbox": BOX, "score": 0.95}, {"bbox": [12, 10, 20, 20]}])
    assert evaluate_coco(gt, dt).summary["AR100"] == 0.5
    assert evaluate_coco(gt, dt, COCOParameters(corrections=("gt_id_zero",))).summary["AR100"] == 1


def test_the_field_ignore():
    gt, dt = problem([{"bbox": BOX, "ignore": 1}, {"bbox": FAR}], [{"bbox": FAR}])
    result = evaluate_coco(gt, dt)
    assert result.summary["AR100"] == 0.5
    assert any(note.startswith("ignore_field") for note in result.notes)
    assert evaluate_coco(gt, dt, COCOParameters(corrections=("ignore_field",))).summary["AR100"] == 1


def test_numbers_of_detections_other_than_100():
    gt, dt = problem([{"bbox": BOX}], [{"bbox": BOX}])
    result = evaluate_coco(gt, dt, COCOParameters(max_dets=(1, 10, 300)))
    assert result.summary["AP"] == -1
    assert result.summary["AP50"] == PERFECT
    assert any("max_dets" in note for note in result.notes)
    assert (
        evaluate_coco(gt, dt, COCOParameters(max_dets=(1, 10, 300), corrections=("max_dets",))).summary["AP"] == PERFECT
    )


def test_results_without_a_detection():
    gt, dt = problem([{"bbox": BOX}], [])
    with pytest.raises(ValueRangeError, match="empty_results"):
        evaluate_coco(gt, dt)
    result = evaluate_coco(gt, dt, COCOParameters(corrections=("empty_results",)))
    assert result.summary["AP"] == 0
    assert result.notes


def test_masks_of_another_size_than_their_photo_are_told():
    here, small = {"size": [100, 100], "counts": [0, 100, 9900]}, {"size": [50, 50], "counts": [0, 100, 2400]}
    objects, found = ([{"bbox": BOX, "segmentation": each}] for each in (here, small))
    gt, dt = problem(objects, [{"segmentation": small}])
    result = evaluate_coco(gt, dt, COCOParameters(iou_type="segm"))
    assert result.summary["AP"] == 0
    assert any("detections[0]" in note and "size" in note for note in result.notes)
    gt, dt = problem(found, [{"segmentation": small}])
    result = evaluate_coco(gt, dt, COCOParameters(iou_type="segm"))
    assert result.summary["AP"] == PERFECT  # as the reference has it
    assert sum("mask_size" in note for note in result.notes) == 2


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("iou_type", ["bbox", "segm", "keypoints"])
@pytest.mark.parametrize(("n_objects", "n_detections", "want"), [(0, 1, -1), (1, 0, 0), (0, 0, -1)])
def test_files_without_a_record_do_not_say_what_it_would_hold(iou_type, n_objects, n_detections, want, as_text):
    square = {"size": [100, 100], "counts": [0, 100, 9900]}
    record = {"bbox": BOX, "segmentation": square, "keypoints": [1, 1, 2] * 17}
    gt, dt = problem([record | {"num_keypoints": 17}] * n_objects, [record] * n_detections)
    if as_text:
        gt, dt = json.dumps(gt).encode(), json.dumps(dt).encode()
    result = evaluate_coco(gt, dt, COCOParameters(iou_type=iou_type, corrections=("empty_results",)))
    assert result.summary["AP"] == want


@pytest.mark.parametrize(("field", "name"), [("iscrowd", "missing_iscrowd"), ("area", "missing_area")])
def test_fields_that_may_be_missing_by_name(field, name):
    gt, dt = problem([{"bbox": BOX}], [{"bbox": BOX}])
    del gt["annotations"][0][field]
    with pytest.raises(ValueRangeError, match=rf"annotations\[0\].{field}"):
        evaluate_coco(gt, dt)
    result = evaluate_coco(gt, dt, COCOParameters(corrections=(name,)))
    assert result.summary["APs"] == PERFECT
    assert name in result.notes[0]


def test_a_result_tells_what_it_knows():
    gt, dt = problem([{"bbox": BOX}], [{"bbox": BOX}])
    result = evaluate_coco(gt, dt)
    told = result.to_dict()
    assert list(told)[:12] == list(BOX_KEYS) == list(result.summary)
    first, second = told["per_class"]
    assert first == {
        "id": 1,
        "name": "class 1",
        "n_objects": 1,
        "AP": PERFECT,
        "AR": 1.0,
        "AP50": PERFECT,
        "AP75": PERFECT,
    }
    assert second["AP"] is None
    assert told["counts"] == {"images": 3, "objects": 1, "detections": 1, "classes": 2}
    assert "AP50" in str(result)
    assert len(repr(result)) < 300
    with pytest.raises(ConfigError, match="does not include this threshold"):
        result.average_precision(iou_thr=0.3)
    with pytest.raises(ConfigError, match="does not include"):
        result.average_recall(area="huge")


@pytest.mark.parametrize(
    "settings",
    [
        {"iou_type": "mask"},
        {"corrections": ("gt_id_one",)},
        {"corrections": "gt_id_zero"},
        {"accept": ("anything",)},
        {"iou_thrs": ()},
        {"iou_thrs": (0.5, float("nan"))},
        {"rec_thrs": (0.5, 0.4)},
        {"max_dets": ()},
        {"max_dets": (-1,)},
        {"area_rng_lbl": ("all",)},
        {"area_rng": ((0, 1),), "area_rng_lbl": ("all", "small")},
        {"iou_type": "keypoints", "use_cats": False},
        {"kpt_oks_sigmas": (0.0,)},
    ],
)
def test_parameters_that_make_no_sense_are_refused(settings):
    with pytest.raises(ValueError):
        COCOParameters(**settings)
