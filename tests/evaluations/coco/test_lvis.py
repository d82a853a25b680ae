"""LVIS' rules: which detections count in photos whose objects are labelled for some classes only."""

import json

import numpy as np
import pytest

from cvzoo.errors.exceptions import ConfigError, FileFormatError, ValueRangeError
from cvzoo.evaluations.coco import LVIS_KEYS, COCOGroundTruth, evaluate_lvis

BOX, FAR = [10, 10, 20, 20], [60, 60, 20, 20]


def dataset(*, absent=(), partial=(), objects=({},)):
    usual = {"image_id": 1, "category_id": 1, "bbox": BOX, "area": 400}
    return {
        "images": [
            {
                "id": i,
                "height": 100,
                "width": 100,
                "neg_category_ids": list(absent),
                "not_exhaustive_category_ids": list(partial),
            }
            for i in (1, 2)
        ],
        "categories": [
            {"id": k, "name": name, "frequency": name[0]} for k, name in ((1, "rare"), (2, "common"), (3, "f"))
        ],
        "annotations": [{"id": i + 1} | usual | each for i, each in enumerate(objects)],
    }


def found(**fields):
    return {"image_id": 1, "category_id": 1, "bbox": BOX, "score": 0.5} | fields


def ap(gt, dt, **settings):
    return evaluate_lvis(gt, dt, **settings).summary["AP"]


HIT = found()
MISS = found(bbox=FAR, score=0.9)
ELSEWHERE = found(image_id=2, score=0.9)  # a photo without an object of the class


@pytest.mark.parametrize(
    ("gt", "dt", "want"),
    [
        (dataset(), [HIT], 1),
        (dataset(), [HIT, MISS], 0.5),
        # nobody looked for the class in the other photo: the detection does not count
        (dataset(), [HIT, ELSEWHERE], 1),
        # somebody did, and it is not there
        (dataset(absent=[1]), [HIT, ELSEWHERE], 0.5),
        # not all objects of the class are labelled: a detection too many is no mistake
        (dataset(partial=[1]), [HIT, MISS], 1),
        (dataset(absent=[1], partial=[1]), [HIT, ELSEWHERE], 1),
        (dataset(objects=[{}, {"bbox": FAR, "ignore": 1}]), [HIT, MISS], 1),
    ],
)
def test_what_counts(gt, dt, want):
    assert ap(gt, dt) == pytest.approx(want)
    assert ap(json.dumps(gt).encode(), json.dumps(dt).encode()) == pytest.approx(want)


def test_the_limit_is_of_a_photo_over_all_classes():
    objects = [{}, {"category_id": 2}]
    surer = [found(category_id=2, score=0.9 - 0.01 * i, bbox=FAR) for i in range(3)]
    assert evaluate_lvis(dataset(objects=objects), [*surer, HIT], max_det=4).summary["APr"] == pytest.approx(1)
    result = evaluate_lvis(dataset(objects=objects), [*surer, HIT], max_det=3)
    assert result.summary["APr"] == 0
    # detections of a class that nobody looked for take a place as well
    surer = [each | {"category_id": 3} for each in surer]
    assert evaluate_lvis(dataset(objects=objects), [*surer, HIT], max_det=3).summary["APr"] == 0


def test_classes_are_summed_up_by_frequency():
    result = evaluate_lvis(dataset(objects=[{}, {"category_id": 2, "bbox": FAR}]), [HIT])
    assert list(result.summary) == list(LVIS_KEYS)
    assert result.frequency == ("r", "c", "f")
    assert (result.summary["APc"], result.summary["APf"]) == (0, -1)
    assert result.summary["APr"] == pytest.approx(1)
    assert result.stats.shape == (13,)


def test_masks_are_compared_as_well():
    square = [10, 10, 10, 30, 30, 30, 30, 10]
    runs = {"size": [100, 100], "counts": [1010] + [20, 80] * 19 + [20, 7070]}
    result = evaluate_lvis(dataset(objects=[{"segmentation": [square]}]), [found(segmentation=runs)], iou_type="segm")
    assert result.summary["AP"] == pytest.approx(1)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ConfigError):
        evaluate_lvis(dataset(), [HIT], iou_type="keypoints")
    with pytest.raises(ValueRangeError, match=r"detections\[1\].image_id"):
        evaluate_lvis(dataset(), [HIT, found(image_id=9)])
    gt = dataset()
    del gt["images"][0]["neg_category_ids"]
    for source in (gt, json.dumps(gt).encode()):
        with pytest.raises(ValueRangeError, match="neg_category_ids"):
            evaluate_lvis(source, [HIT])
    gt = dataset(absent=[2**70])
    for source in (gt, json.dumps(gt).encode()):
        with pytest.raises(ValueRangeError, match="neg_category_ids"):
            evaluate_lvis(source, [HIT])
    with pytest.raises(FileFormatError):
        evaluate_lvis(b"nonsense", [HIT])
    one = np.ones(1, np.int64)
    columns = COCOGroundTruth(
        img_ids=one, cat_ids=one, image_id=one, category_id=one, bbox=[BOX], area=[400], crowd=[False]
    )
    with pytest.raises(ValueRangeError, match="labelling"):
        evaluate_lvis(columns, [HIT])
