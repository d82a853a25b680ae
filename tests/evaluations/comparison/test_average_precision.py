"""Average precision under weights of images is that of a data set with copies of the images."""

import dataclasses
import gzip
import json

import numpy as np
import pytest

from cvzoo.evaluations.coco.detections import COCODetections
from cvzoo.evaluations.coco.evaluate import coco_positives, evaluate_coco, match_coco, take_detections
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.coco.read_detections import read_coco_detections
from cvzoo.evaluations.coco.read_ground_truth import read_coco_ground_truth
from cvzoo.evaluations.comparison.average_precision import weighted_coco_ap, weighted_voc_ap
from cvzoo.evaluations.voc.matches import match_voc_bboxes
from cvzoo.evaluations.voc.result import VOCResult

N_IMAGE, N_CLASS = 12, 3


def objects(seed):
    """(image, class, box as x y width height) of objects, and of detections near them, with scores."""
    rng = np.random.default_rng(seed)
    n = 60
    image, label = rng.integers(0, N_IMAGE, n), rng.integers(0, N_CLASS, n)
    box = np.concatenate((rng.uniform(0, 200, (n, 2)), rng.uniform(10, 90, (n, 2))), axis=1)
    near = np.repeat(np.arange(n), 3)
    shaken = np.abs(box[near] * rng.normal(1, 0.12, (len(near), 4)))
    other = np.where(rng.random(len(near)) < 0.2, rng.integers(0, N_CLASS, len(near)), label[near])
    return (image, label, box), (image[near], other, shaken, rng.permutation(len(near)) / len(near))


def coco(seed, crowds=False):
    (image, label, box), (dt_image, dt_label, dt_box, score) = objects(seed)
    crowd = (np.arange(len(image)) % 5 == 0) & crowds
    gt = COCOGroundTruth(
        img_ids=np.arange(N_IMAGE) + 10, cat_ids=np.arange(N_CLASS) + 1, image_id=image + 10, category_id=label + 1,
        bbox=box, area=box[:, 2] * box[:, 3], crowd=crowd,
    )  # fmt: skip
    return gt, COCODetections(image_id=dt_image + 10, category_id=dt_label + 1, score=score, bbox=dt_box)


def copied(gt, dt, weights):
    """The data set with each image as often as its weight says, the copies with ids of their own."""
    ids = np.repeat(gt.img_ids, weights)
    new = np.arange(len(ids)) + 1
    rows = [np.flatnonzero(gt.image_id == each) for each in ids]
    at = np.concatenate(rows)
    found = [np.flatnonzero(dt.image_id == each) for each in ids]
    columns = {name: getattr(gt, name)[at] for name in ("category_id", "bbox", "area", "crowd")}
    more = dataclasses.replace(
        gt, img_ids=new, image_id=np.repeat(new, list(map(len, rows))), ids=np.arange(len(at)) + 1, **columns
    )
    taken = take_detections(dt, np.concatenate(found))
    return more, dataclasses.replace(taken, image_id=np.repeat(new, list(map(len, found))))


def weighted(gt, dt, parameters):
    positives = coco_positives(gt, parameters)
    names = tuple(map(str, gt.cat_ids))
    return weighted_coco_ap(match_coco(gt, dt, parameters), positives, names, parameters.iou_thrs, parameters.rec_thrs)


@pytest.mark.parametrize("crowds", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_cocos_ap_under_weights_is_that_of_copied_images(seed, crowds):
    gt, dt = coco(seed, crowds)
    parameters = COCOParameters()
    ap = weighted(gt, dt, parameters)
    assert ap.names == ("AP", "AP50", "AP75", "1", "2", "3")
    rng = np.random.default_rng(seed)
    for weights in (np.ones(N_IMAGE, int), *(np.bincount(rng.integers(0, 12, 12), minlength=12) for _ in range(4))):
        result = evaluate_coco(*copied(gt, dt, weights), parameters)
        expected = [*(result.summary[key] for key in ("AP", "AP50", "AP75")), *result.class_ap]
        assert ap(weights.astype(float)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("use_07_metric", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_vocs_ap_under_weights_is_that_of_copied_images(seed, use_07_metric):
    (image, label, box), (dt_image, dt_label, dt_box, score) = objects(seed)
    difficult = np.arange(len(image)) % 6 == 0
    yxyx = [np.stack((b[:, 1], b[:, 0], b[:, 1] + b[:, 3], b[:, 0] + b[:, 2]), axis=1) for b in (box, dt_box)]

    def columns(images):
        gt, dt = ([np.flatnonzero(each == i) for i in images] for each in (image, dt_image))
        return (
            [yxyx[1][r] for r in dt], [dt_label[r] for r in dt], [score[r] for r in dt],
            [yxyx[0][r] for r in gt], [label[r] for r in gt], [difficult[r] for r in gt],
        )  # fmt: skip

    positives = label[~difficult], image[~difficult]
    matches = match_voc_bboxes(*columns(range(N_IMAGE)))
    ap = weighted_voc_ap(matches, positives, ("a", "b", "c"), use_07_metric=use_07_metric)
    rng = np.random.default_rng(seed)
    for weights in (np.ones(N_IMAGE, int), *(np.bincount(rng.integers(0, 12, 12), minlength=12) for _ in range(4))):
        again = match_voc_bboxes(*columns(np.repeat(np.arange(N_IMAGE), weights)))
        result = VOCResult.of(again, n_fg_class=N_CLASS, use_07_metric=use_07_metric)
        assert ap(weights.astype(float)) == pytest.approx([result.map, *result.ap], abs=1e-12)


def test_a_class_without_objects_in_the_drawn_images_has_no_ap():
    gt, dt = coco(0)
    gt = dataclasses.replace(gt, category_id=np.where(gt.image_id == 10, 1, 2))
    weights = np.ones(N_IMAGE)
    weights[0] = 0
    found = weighted(gt, dt, COCOParameters())(weights)
    assert np.isnan(found[3:]).tolist() == [True, False, True]
    assert found[0] == pytest.approx(found[4])


def test_no_detections_and_no_objects_are_fine():
    gt, dt = coco(0)
    nothing = take_detections(dt, np.zeros(0, int))
    assert np.array_equal(weighted(gt, nothing, COCOParameters())(np.ones(N_IMAGE)), np.zeros(6))
    assert np.isnan(weighted(gt, dt, COCOParameters())(np.zeros(N_IMAGE))).all()


@pytest.mark.parametrize("name", ["real_coco100_bbox", "ties", "crowd"])
def test_with_weights_of_one_the_references_ap_comes_out(shared, name):
    folder = shared / "eval_cases" / "open"
    expected = np.load(folder / f"{name}.expected.npz")["stats"]
    with gzip.open(folder / f"{name}.json.gz", "rt") as file:
        case = json.load(file)
    gt, dt = read_coco_ground_truth(case["gt"]), read_coco_detections(case["dt"])
    ap = weighted(gt, dt, COCOParameters())
    assert ap(np.ones(len(gt.img_ids)))[:3] == pytest.approx(expected[:3], abs=1e-12)
