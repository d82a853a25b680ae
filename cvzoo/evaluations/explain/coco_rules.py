"""Known differences between implementations of COCO's metrics, each as a change of the evaluation."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cvzoo.evaluations.coco.detections import COCODetections
from cvzoo.evaluations.coco.evaluate import take_detections
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.evaluations.coco.parameters import CORRECTIONS, COCOParameters
from cvzoo.typing.aliases import Array, ArrayLike

Case = tuple[COCOGroundTruth, COCODetections, COCOParameters]


class COCORule(NamedTuple):
    """A rule: its name, what the other program does if the rule applies, and the case under the rule."""

    name: str
    words: str
    apply: Callable[[COCOGroundTruth, COCODetections, COCOParameters], Case]


def coco_rules(parameters: COCOParameters) -> tuple[COCORule, ...]:
    """All rules by which another program may differ from these parameters, the likely ones first."""
    return (
        *(_correction(name, parameters.corrects(name)) for name in ("gt_id_zero", "ignore_field", "max_dets")),
        COCORule("use_cats", "classes are ignored: every detection may match every object", _without_classes),
        *(_max_dets(n) for n in (10, 50, 100, 300, 500, 1000)),
        COCORule(
            "cap_photo_100", "only the 100 highest-scoring detections per image count, over all classes", _cap_photo
        ),
        COCORule(
            "crowds_dropped", "crowd regions are left out, so detections on them are false positives", _crowds_dropped
        ),
        COCORule("crowds_as_objects", "crowd regions are objects like others", _crowds_as_objects),
        COCORule("box_areas", "sizes of objects are those of their boxes, not of their masks", _box_areas),
        COCORule("boxes_for_masks", "boxes are compared, not masks", _boxes),
        COCORule("float32_thresholds", "IoU thresholds are rounded to float32", _float32_thresholds),
        COCORule("above_threshold", "an IoU equal to the threshold does not match", _above_threshold),
        COCORule("plus_one", "boxes count their last pixel: width and height are one more", _plus_one),
        COCORule("float32_boxes", "boxes are rounded to float32", lambda gt, dt, p: _boxes_as(gt, dt, p, _float32)),
        COCORule("rounded_boxes", "boxes are rounded to two decimals", lambda gt, dt, p: _boxes_as(gt, dt, p, _cents)),
        COCORule("whole_pixels", "detected boxes are rounded to whole pixels", _whole_pixels),
        COCORule("rounded_scores", "scores are rounded to three decimals, so more of them are equal", _rounded_scores),
        COCORule("ties_reversed", "of equal scores the last detection goes first", _ties_reversed),
        COCORule("photos_with_detections", "images without a detection are left out", _photos_with_detections),
        COCORule("photos_with_objects", "images without an object are left out", _photos_with_objects),
        COCORule("classes_with_detections", "classes without a detection are left out", _classes_with_detections),
        *(_score_above(t) for t in (0.001, 0.01, 0.05, 0.1, 0.25, 0.3, 0.5)),
    )


def _correction(name: str, ours: bool) -> COCORule:
    def apply(gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters) -> Case:
        others = tuple(each for each in parameters.corrections if each != name)
        return gt, dt, dataclasses.replace(parameters, corrections=others if ours else (*others, name))

    return COCORule(name, ("not so, as in pycocotools: " if ours else "") + CORRECTIONS[name], apply)


def _max_dets(n: int) -> COCORule:
    def apply(gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters) -> Case:
        smaller = tuple(each for each in parameters.max_dets[:2] if each < n)
        corrections = tuple(dict.fromkeys((*parameters.corrections, "max_dets")))
        return gt, dt, dataclasses.replace(parameters, max_dets=(*smaller, n), corrections=corrections)

    return COCORule(f"max_dets_{n}", f"the {n} highest-scoring detections per image and class count", apply)


def _score_above(thresh: float) -> COCORule:
    def apply(gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters) -> Case:
        return gt, take_detections(dt, np.flatnonzero(dt.score >= thresh)), _may_be_empty(parameters)

    return COCORule(f"score_{thresh}", f"detections that score less than {thresh} are dropped", apply)


def _may_be_empty(parameters: COCOParameters) -> COCOParameters:
    return dataclasses.replace(parameters, corrections=tuple({*parameters.corrections, "empty_results"}))


def _without_classes(gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters) -> Case:
    return gt, dt, dataclasses.replace(parameters, use_cats=False)


def _cap_photo(gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters) -> Case:
    order = np.lexsort((-dt.score, dt.image_id))
    image = dt.image_id[order]
    first = np.searchsorted(image, image)
    kept = np.sort(order[np.arange(order.size) - first < 100])
    return gt, take_detections(dt, kept), parameters


def _objects(gt: COCOGroundTruth, rows: Array) -> COCOGroundTruth:
    columns: dict[str, Any] = {}
    for field in ("image_id", "category_id", "bbox", "area", "crowd", "ignore", "ids", "masks", "keypoints"):
        column = gt.__dict__[field]
        columns[field] = None if column is None else column[rows]
    if gt.num_keypoints is not None:
        columns["num_keypoints"] = gt.num_keypoints[rows]
    return dataclasses.replace(gt, **columns)


def _crowds_dropped(gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters) -> Case:
    return _objects(gt, np.flatnonzero(~gt.crowd)), dt, parameters


def _crowds_as_objects(gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters) -> Case:
    return dataclasses.replace(gt, crowd=np.zeros_like(gt.crowd)), dt, parameters


def _box_areas(gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters) -> Case:
    dt_area = dt.area if dt.bbox is None else dt.bbox[:, 2] * dt.bbox[:, 3]
    return (
        dataclasses.replace(gt, area=gt.bbox[:, 2] * gt.bbox[:, 3]),
        dataclasses.replace(dt, area=dt_area),
        parameters,
    )


def _boxes(gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters) -> Case:
    if parameters.iou_type != "segm":
        return gt, dt, parameters
    if dt.bbox is None and dt.masks is not None:
        y_min, x_min, y_max, x_max = dt.masks.to_bbox().astype(np.float64).T
        dt = dataclasses.replace(dt, bbox=np.stack((x_min, y_min, x_max - x_min, y_max - y_min), axis=1))
    return gt, dt, dataclasses.replace(parameters, iou_type="bbox")


def _float32_thresholds(gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters) -> Case:
    return gt, dt, dataclasses.replace(parameters, iou_thrs=_float32(parameters.iou_thrs))


def _above_threshold(gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters) -> Case:
    return gt, dt, dataclasses.replace(parameters, iou_thrs=np.nextafter(parameters.iou_thrs, 2.0))


def _float32(values: Array) -> Array:
    return values.astype(np.float32).astype(np.float64)


def _cents(values: Array) -> Array:
    return np.round(values, 2)


def _boxes_as(
    gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters, rounded: Callable[[Array], Array]
) -> Case:
    if dt.bbox is None:
        return gt, dt, parameters
    return (
        dataclasses.replace(gt, bbox=rounded(gt.bbox)),
        dataclasses.replace(dt, bbox=rounded(dt.bbox), area=None),
        parameters,
    )


def _plus_one(gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters) -> Case:
    return _boxes_as(gt, dt, parameters, lambda bbox: bbox + np.array([0, 0, 1, 1]))


def _whole_pixels(gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters) -> Case:
    if dt.bbox is None:
        return gt, dt, parameters
    low = np.round(dt.bbox[:, :2])
    size = np.round(dt.bbox[:, :2] + dt.bbox[:, 2:]) - low
    return gt, dataclasses.replace(dt, bbox=np.concatenate((low, size), axis=1), area=None), parameters


def _rounded_scores(gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters) -> Case:
    return gt, dataclasses.replace(dt, score=np.round(dt.score, 3)), parameters


def _ties_reversed(gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters) -> Case:
    return gt, take_detections(dt, np.arange(len(dt))[::-1]), parameters


def _photos_with_detections(gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters) -> Case:
    return gt, dt, dataclasses.replace(parameters, img_ids=_among(parameters.img_ids, dt.image_id))


def _photos_with_objects(gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters) -> Case:
    return gt, dt, dataclasses.replace(parameters, img_ids=_among(parameters.img_ids, gt.image_id))


def _classes_with_detections(gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters) -> Case:
    return gt, dt, dataclasses.replace(parameters, cat_ids=_among(parameters.cat_ids, dt.category_id))


def _among(asked: ArrayLike | None, ids: Array) -> Array:
    return np.unique(ids) if asked is None else np.intersect1d(asked, ids)
