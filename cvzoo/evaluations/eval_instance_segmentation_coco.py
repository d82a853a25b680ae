"""COCO's scores of instance masks, from arrays."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.evaluations.coco.accumulator import AbstractCOCOAccumulator
from cvzoo.evaluations.coco.detections import COCODetections
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.coco.photo_columns import (
    areas_of,
    concatenated,
    labels_of,
    photos_at_a_time,
    same_lengths,
    same_photos,
    scores_of,
)
from cvzoo.evaluations.voc.matches import as_rles
from cvzoo.geometry.rle import RLEs

_NAMES = ("pred_masks", "pred_labels", "pred_scores", "gt_masks", "gt_labels", "gt_areas", "gt_crowdeds")


def eval_instance_segmentation_coco(
    pred_masks,
    pred_labels,
    pred_scores,
    gt_masks,
    gt_labels,
    gt_areas=None,
    gt_crowdeds=None,
    *,
    parameters: COCOParameters | None = None,
) -> dict:
    """COCO's average precisions and recalls of instance masks, as pycocotools computes them.

    pred_masks, gt_masks: iterables of (R, H, W) bool, or of RLEs of length R; one a photo
    pred_labels, gt_labels: iterables of (R,) int32
    pred_scores: an iterable of (R,) float32
    gt_areas: None, or an iterable of (R,) float32, square pixels; None: no numbers by size of object
    gt_crowdeds: None, or an iterable of (R,) bool; None: no crowds
    parameters: of "segm"; None: the usual ones
    Returns a dictionary as `eval_detection_coco` does.
    Raises ShapeError or ValueRangeError that names the photo.
    Source: ChainerCV's function of this name.
    """
    accumulator = InstanceSegmentationCOCOAccumulator(parameters=parameters)
    columns = (pred_masks, pred_labels, pred_scores, gt_masks, gt_labels, gt_areas, gt_crowdeds)
    for block in photos_at_a_time(columns, _NAMES):
        accumulator.update(*block)
    return accumulator.compute()


class InstanceSegmentationCOCOAccumulator(AbstractCOCOAccumulator):
    """COCO's scores of masks, a few photos at a time; see `eval_instance_segmentation_coco` for arrays and keys."""

    iou_type = "segm"

    def __init__(self, *, parameters: COCOParameters | None = None):
        super().__init__(parameters)

    def update(
        self,
        pred_masks,
        pred_labels,
        pred_scores,
        gt_masks,
        gt_labels,
        gt_areas=None,
        gt_crowdeds=None,
        *,
        img_ids=None,
    ) -> None:
        """Add photos: lists with an array for each. img_ids: ids of the photos; None: numbered as they come."""
        first = self._n_photos
        found, n_found = _masks_of(pred_masks, "pred_masks", first)
        label, n_label = labels_of(pred_labels, "pred_labels", first)
        score, n_score = scores_of(pred_scores, "pred_scores", first)
        objects, n_objects = _masks_of(gt_masks, "gt_masks", first)
        gt_label, n_gt_label = labels_of(gt_labels, "gt_labels", first)
        lengths = {"gt_labels": n_gt_label}
        crowd = np.zeros(len(objects), bool)
        if gt_areas is None:
            area = objects.area().astype(np.float64)
        else:
            area, lengths["gt_areas"] = areas_of(gt_areas, "gt_areas", first)
        if gt_crowdeds is not None:
            crowd, lengths["gt_crowdeds"] = concatenated(gt_crowdeds, "gt_crowdeds", (), first, bool)
        same_lengths("pred_masks", n_found, {"pred_labels": n_label, "pred_scores": n_score}, first)
        same_lengths("gt_masks", n_objects, lengths, first)
        same_photos(n_found, n_objects)
        _same_sizes(found, n_found, objects, n_objects, first)
        ids = self._next_ids(len(n_objects), img_ids)
        self._areas_given &= gt_areas is not None
        gt = COCOGroundTruth(
            img_ids=ids,
            cat_ids=np.unique(np.concatenate((label, gt_label))),
            image_id=np.repeat(ids, n_objects),
            category_id=gt_label,
            bbox=np.zeros((len(objects), 4)),
            area=area,
            crowd=crowd,
            masks=objects,
        )
        self._add(gt, COCODetections(image_id=np.repeat(ids, n_found), category_id=label, score=score, masks=found))


def _same_sizes(found, n_found, objects, n_objects, first):
    """Raise ShapeError that names the photo whose masks are of different sizes: they would never overlap."""
    sizes = np.concatenate([found.sizes, objects.sizes])
    photo = np.concatenate([np.repeat(np.arange(len(n)), n) for n in (n_found, n_objects)])
    order = np.argsort(photo, kind="stable")
    sizes, photo = sizes[order], photo[order]
    wrong = (photo[1:] == photo[:-1]) & (sizes[1:] != sizes[:-1]).any(axis=1)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ShapeError(
            f"masks of photo {first + photo[i]} are of different sizes",
            expected=tuple(sizes[i].tolist()),
            got=tuple(sizes[i + 1].tolist()),
        )


def _masks_of(parts, name, first):
    masks = []
    for i, part in enumerate(parts):
        masks.append(as_rles(part, f"{name} of photo {first + i}"))
    return RLEs.concatenate(masks), np.array([len(part) for part in masks], np.int64)
