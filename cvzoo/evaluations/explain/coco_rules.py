"""Rules in which scorers of COCO's kind are known to differ, each as a change of what is scored."""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cvzoo.evaluations.coco.detections import COCODetections
from cvzoo.evaluations.coco.evaluate import take_detections
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.evaluations.coco.parameters import CORRECTIONS, COCOParameters

Case = tuple[COCOGroundTruth, COCODetections, COCOParameters]


class COCORule(NamedTuple):
    """A rule: its name, what the other scorer does if it is the reason, and the case under that rule."""

    name: str
    words: str
    apply: Callable[[COCOGroundTruth, COCODetections, COCOParameters], Case]


def coco_rules(parameters: COCOParameters) -> tuple[COCORule, ...]:
    """All rules in which another scorer may differ from these parameters, the likely ones first."""
    return (
        *(_correction(name, parameters.corrects(name)) for name in ("gt_id_zero", "ignore_field", "max_dets")),
        COCORule("use_cats", "classes do not count: every detection may match every object", _without_classes),
        *(_max_dets(n) for n in (10, 50, 100, 300, 500, 1000)),
        COCORule("cap_photo_100", "only the 100 surest detections of a photo count, over all its classes", _cap_photo),
        COCORule("crowds_dropped", "crowds are left out, so detections on them are wrong", _crowds_dropped),
        COCORule("crowds_as_objects", "crowds are objects like others", _crowds_as_objects),
        COCORule("box_areas", "sizes of objects are those of their boxes, not of their masks", _box_areas),
        COCORule("boxes_for_masks", "boxes are compared, not masks", _boxes),
        COCORule("float32_thresholds", "thresholds of overlap are rounded to float32", _float32_thresholds),
        COCORule("above_threshold", "an overlap equal to the threshold does not match", _above_threshold),
        COCORule("plus_one", "boxes count their last pixel: width and height are one more", _plus_one),
        COCORule("float32_boxes", "boxes are rounded to float32", lambda gt, dt, p: _boxes_as(gt, dt, p, _float32)),
        COCORule("rounded_boxes", "boxes are rounded to two decimals", lambda gt, dt, p: _boxes_as(gt, dt, p, _cents)),
        COCORule("whole_pixels", "detected boxes are rounded to whole pixels", _whole_pixels),
        COCORule("rounded_scores", "scores are rounded to three decimals, so more of them are equal", _rounded_scores),
        COCORule("ties_reversed", "of equal scores the last detection goes first", _ties_reversed),
        COCORule("photos_with_detections", "photos without a detection are left out", _photos_with_detections),
        COCORule("photos_with_objects", "photos without an object are left out", _photos_with_objects),
        COCORule("classes_with_detections", "classes without a detection are left out", _classes_with_detections),
        *(_score_above(t) for t in (0.001, 0.01, 0.05, 0.1, 0.25, 0.3, 0.5)),
    )


def _correction(name, ours):
    def apply(gt, dt, parameters):
        others = tuple(each for each in parameters.corrections if each != name)
        return gt, dt, dataclasses.replace(parameters, corrections=others if ours else (*others, name))

    return COCORule(name, ("not so, as in pycocotools: " if ours else "") + CORRECTIONS[name], apply)


def _max_dets(n):
    def apply(gt, dt, parameters):
        smaller = tuple(each for each in parameters.max_dets[:2] if each < n)
        corrections = tuple(dict.fromkeys((*parameters.corrections, "max_dets")))
        return gt, dt, dataclasses.replace(parameters, max_dets=(*smaller, n), corrections=corrections)

    return COCORule(f"max_dets_{n}", f"of a photo and a class the {n} surest detections count", apply)


def _score_above(thresh):
    def apply(gt, dt, parameters):
        return gt, take_detections(dt, np.flatnonzero(dt.score >= thresh)), _may_be_empty(parameters)

    return COCORule(f"score_{thresh}", f"detections that score less than {thresh} are dropped", apply)


def _may_be_empty(parameters):
    return dataclasses.replace(parameters, corrections=tuple({*parameters.corrections, "empty_results"}))


def _without_classes(gt, dt, parameters):
    return gt, dt, dataclasses.replace(parameters, use_cats=False)


def _cap_photo(gt, dt, parameters):
    order = np.lexsort((-dt.score, dt.image_id))
    photo = dt.image_id[order]
    first = np.searchsorted(photo, photo)
    kept = np.sort(order[np.arange(order.size) - first < 100])
    return gt, take_detections(dt, kept), parameters


def _objects(gt, rows):
    columns = {}
    for field in ("image_id", "category_id", "bbox", "area", "crowd", "ignore", "ids", "masks", "keypoints"):
        column = gt.__dict__[field]
        columns[field] = None if column is None else column[rows]
    if gt.num_keypoints is not None:
        columns["num_keypoints"] = gt.num_keypoints[rows]
    return dataclasses.replace(gt, **columns)


def _crowds_dropped(gt, dt, parameters):
    return _objects(gt, np.flatnonzero(~gt.crowd)), dt, parameters


def _crowds_as_objects(gt, dt, parameters):
    return dataclasses.replace(gt, crowd=np.zeros_like(gt.crowd)), dt, parameters


def _box_areas(gt, dt, parameters):
    dt_area = dt.area if dt.bbox is None else dt.bbox[:, 2] * dt.bbox[:, 3]
    return (
        dataclasses.replace(gt, area=gt.bbox[:, 2] * gt.bbox[:, 3]),
        dataclasses.replace(dt, area=dt_area),
        parameters,
    )


def _boxes(gt, dt, parameters):
    if parameters.iou_type != "segm":
        return gt, dt, parameters
    if dt.bbox is None and dt.masks is not None:
        y_min, x_min, y_max, x_max = dt.masks.to_bbox().astype(np.float64).T
        dt = dataclasses.replace(dt, bbox=np.stack((x_min, y_min, x_max - x_min, y_max - y_min), axis=1))
    return gt, dt, dataclasses.replace(parameters, iou_type="bbox")


def _float32_thresholds(gt, dt, parameters):
    return gt, dt, dataclasses.replace(parameters, iou_thrs=_float32(parameters.iou_thrs))


def _above_threshold(gt, dt, parameters):
    return gt, dt, dataclasses.replace(parameters, iou_thrs=np.nextafter(parameters.iou_thrs, 2.0))


def _float32(values):
    return values.astype(np.float32).astype(np.float64)


def _cents(values):
    return np.round(values, 2)


def _boxes_as(gt, dt, parameters, rounded):
    if dt.bbox is None:
        return gt, dt, parameters
    return (
        dataclasses.replace(gt, bbox=rounded(gt.bbox)),
        dataclasses.replace(dt, bbox=rounded(dt.bbox), area=None),
        parameters,
    )


def _plus_one(gt, dt, parameters):
    return _boxes_as(gt, dt, parameters, lambda bbox: bbox + np.array([0, 0, 1, 1]))


def _whole_pixels(gt, dt, parameters):
    if dt.bbox is None:
        return gt, dt, parameters
    low = np.round(dt.bbox[:, :2])
    size = np.round(dt.bbox[:, :2] + dt.bbox[:, 2:]) - low
    return gt, dataclasses.replace(dt, bbox=np.concatenate((low, size), axis=1), area=None), parameters


def _rounded_scores(gt, dt, parameters):
    return gt, dataclasses.replace(dt, score=np.round(dt.score, 3)), parameters


def _ties_reversed(gt, dt, parameters):
    return gt, take_detections(dt, np.arange(len(dt))[::-1]), parameters


def _photos_with_detections(gt, dt, parameters):
    return gt, dt, dataclasses.replace(parameters, img_ids=_among(parameters.img_ids, dt.image_id))


def _photos_with_objects(gt, dt, parameters):
    return gt, dt, dataclasses.replace(parameters, img_ids=_among(parameters.img_ids, gt.image_id))


def _classes_with_detections(gt, dt, parameters):
    return gt, dt, dataclasses.replace(parameters, cat_ids=_among(parameters.cat_ids, dt.category_id))


def _among(asked, ids):
    return np.unique(ids) if asked is None else np.intersect1d(asked, ids)
