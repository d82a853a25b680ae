"""COCO's evaluation of object detection (boxes), from arrays."""

from collections.abc import Iterable

import numpy as np

from cvzoo.evaluations.coco.accumulator import AbstractCOCOAccumulator
from cvzoo.evaluations.coco.detections import COCODetections
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.evaluations.coco.image_columns import (
    areas_of,
    batches_of_images,
    boxes_of,
    check_same_images,
    concatenated,
    labels_of,
    rounded_xywh,
    same_lengths,
    scores_of,
)
from cvzoo.evaluations.coco.parameters import COCOParameters, IoUType
from cvzoo.typing.aliases import ArrayLike

_NAMES = ("pred_bboxes", "pred_labels", "pred_scores", "gt_bboxes", "gt_labels", "gt_areas", "gt_crowdeds")


def eval_detection_coco(
    pred_bboxes: Iterable[ArrayLike],
    pred_labels: Iterable[ArrayLike],
    pred_scores: Iterable[ArrayLike],
    gt_bboxes: Iterable[ArrayLike],
    gt_labels: Iterable[ArrayLike],
    gt_areas: Iterable[ArrayLike] | None = None,
    gt_crowdeds: Iterable[ArrayLike] | None = None,
    *,
    parameters: COCOParameters | None = None,
    decimals: int | None = 2,
) -> dict:
    """COCO's average precisions and recalls of boxes, as pycocotools computes them.

    pred_bboxes, gt_bboxes: iterables of (R, 4) float32, y_min x_min y_max x_max, pixels; one array per image
    pred_labels, gt_labels: iterables of (R,) int32
    pred_scores: an iterable of (R,) float32
    gt_areas: None, or an iterable of (R,) float32, square pixels, of the masks; None: no scores by size of object
    gt_crowdeds: None, or an iterable of (R,) bool; None: no crowd regions
    parameters: of "bbox"; None: the defaults
    decimals: number of decimals to which x, y, width and height of boxes are rounded, which restores the values of
        COCO's files after a conversion to float32; None: no rounding
    Returns a dictionary with ap, map, ar, mar under `iou=0.50:0.95/area=all/max_dets=100` and so on: `ap/...` and
    `ar/...` are arrays indexed by label, NaN for labels without objects; `map/...` and `mar/...` are their means.
    `coco_eval` is the COCOResult, `existent_labels` the labels that occur.
    Raises ShapeError or ValueRangeError that names the image, for lists of different lengths, NaN or inverted boxes.
    Source: ChainerCV's function of this name; it fails without images, where this returns NaN.
    """
    accumulator = DetectionCOCOAccumulator(parameters=parameters, decimals=decimals)
    columns = (pred_bboxes, pred_labels, pred_scores, gt_bboxes, gt_labels, gt_areas, gt_crowdeds)
    for block in batches_of_images(columns, _NAMES):
        accumulator.update(*block)
    return accumulator.compute()


class DetectionCOCOAccumulator(AbstractCOCOAccumulator):
    """Streaming `eval_detection_coco`, a few images at a time, with the same arrays and keys."""

    iou_type: IoUType = "bbox"  # pyright: ignore[reportIncompatibleMethodOverride]  # the abstract property

    def __init__(self, *, parameters: COCOParameters | None = None, decimals: int | None = 2) -> None:
        super().__init__(parameters)
        self.decimals = decimals

    def update(
        self,
        pred_bboxes: Iterable[ArrayLike],
        pred_labels: Iterable[ArrayLike],
        pred_scores: Iterable[ArrayLike],
        gt_bboxes: Iterable[ArrayLike],
        gt_labels: Iterable[ArrayLike],
        gt_areas: Iterable[ArrayLike] | None = None,
        gt_crowdeds: Iterable[ArrayLike] | None = None,
        *,
        img_ids: ArrayLike | None = None,
    ) -> None:
        """Adds images, by lists of one array per image. img_ids: ids of the images; None: numbered from 1 in order."""
        first = self._n_photos
        detections, n_found = boxes_of(pred_bboxes, "pred_bboxes", first)
        label, n_label = labels_of(pred_labels, "pred_labels", first)
        score, n_score = scores_of(pred_scores, "pred_scores", first)
        objects, n_objects = boxes_of(gt_bboxes, "gt_bboxes", first)
        gt_label, n_gt_label = labels_of(gt_labels, "gt_labels", first)
        lengths = {"gt_labels": n_gt_label}
        objects = rounded_xywh(objects, self.decimals)
        area, crowd = objects[:, 2] * objects[:, 3], np.zeros(len(objects), bool)
        if gt_areas is not None:
            area, lengths["gt_areas"] = areas_of(gt_areas, "gt_areas", first)
        if gt_crowdeds is not None:
            crowd, lengths["gt_crowdeds"] = concatenated(gt_crowdeds, "gt_crowdeds", (), first, bool)
        same_lengths("pred_bboxes", n_found, {"pred_labels": n_label, "pred_scores": n_score}, first)
        same_lengths("gt_bboxes", n_objects, lengths, first)
        check_same_images(n_found, n_objects)
        ids = self._next_ids(len(n_objects), img_ids)
        self._areas_given &= gt_areas is not None
        gt = COCOGroundTruth(
            img_ids=ids,
            cat_ids=np.unique(np.concatenate((label, gt_label))),
            image_id=np.repeat(ids, n_objects),
            category_id=gt_label,
            bbox=objects,
            area=area,
            crowd=crowd,
        )
        dt = COCODetections(
            image_id=np.repeat(ids, n_found),
            category_id=label,
            score=score,
            bbox=rounded_xywh(detections, self.decimals),
        )
        self._add(gt, dt)
