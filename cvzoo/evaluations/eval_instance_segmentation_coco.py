"""COCO's evaluation of instance segmentation (masks), from arrays."""

from collections.abc import Iterable

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.evaluations.coco.accumulator import AbstractCOCOAccumulator
from cvzoo.evaluations.coco.detections import COCODetections
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.evaluations.coco.image_columns import (
    areas_of,
    batches_of_images,
    check_same_images,
    concatenated,
    labels_of,
    same_lengths,
    scores_of,
)
from cvzoo.evaluations.coco.parameters import COCOParameters, IoUType
from cvzoo.evaluations.voc.matches import as_rles
from cvzoo.geometry.rle import RLEs
from cvzoo.typing.aliases import Array, ArrayLike

_NAMES = ("pred_masks", "pred_labels", "pred_scores", "gt_masks", "gt_labels", "gt_areas", "gt_crowdeds")


def eval_instance_segmentation_coco(
    pred_masks: Iterable[ArrayLike | RLEs],
    pred_labels: Iterable[ArrayLike],
    pred_scores: Iterable[ArrayLike],
    gt_masks: Iterable[ArrayLike | RLEs],
    gt_labels: Iterable[ArrayLike],
    gt_areas: Iterable[ArrayLike] | None = None,
    gt_crowdeds: Iterable[ArrayLike] | None = None,
    *,
    parameters: COCOParameters | None = None,
) -> dict:
    """COCO's average precisions and recalls of instance masks, as pycocotools computes them.

    pred_masks, gt_masks: iterables of (R, H, W) bool, or of RLEs of length R; one an image
    pred_labels, gt_labels: iterables of (R,) int32
    pred_scores: an iterable of (R,) float32
    gt_areas: None, or an iterable of (R,) float32, square pixels; None: no scores by size of object
    gt_crowdeds: None, or an iterable of (R,) bool; None: no crowd regions
    parameters: of "segm"; None: the defaults
    Returns a dictionary as `eval_detection_coco` does.
    Raises ShapeError or ValueRangeError that names the image.
    Source: ChainerCV's function of this name.
    """
    accumulator = InstanceSegmentationCOCOAccumulator(parameters=parameters)
    columns = (pred_masks, pred_labels, pred_scores, gt_masks, gt_labels, gt_areas, gt_crowdeds)
    for block in batches_of_images(columns, _NAMES):
        accumulator.update(*block)
    return accumulator.compute()


class InstanceSegmentationCOCOAccumulator(AbstractCOCOAccumulator):
    """Streaming `eval_instance_segmentation_coco`, a few images at a time, with the same arrays and keys."""

    iou_type: IoUType = "segm"  # pyright: ignore[reportIncompatibleMethodOverride]  # the abstract property

    def __init__(self, *, parameters: COCOParameters | None = None) -> None:
        super().__init__(parameters)

    def update(
        self,
        pred_masks: Iterable[ArrayLike | RLEs],
        pred_labels: Iterable[ArrayLike],
        pred_scores: Iterable[ArrayLike],
        gt_masks: Iterable[ArrayLike | RLEs],
        gt_labels: Iterable[ArrayLike],
        gt_areas: Iterable[ArrayLike] | None = None,
        gt_crowdeds: Iterable[ArrayLike] | None = None,
        *,
        img_ids: ArrayLike | None = None,
    ) -> None:
        """Adds images, by lists of one array per image. img_ids: ids of the images; None: numbered from 1 in order."""
        first = self._n_photos
        masks, n_found = _masks_of(pred_masks, "pred_masks", first)
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
        check_same_images(n_found, n_objects)
        _same_sizes(masks, n_found, objects, n_objects, first)
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
        self._add(gt, COCODetections(image_id=np.repeat(ids, n_found), category_id=label, score=score, masks=masks))


def _same_sizes(masks: RLEs, n_found: Array, objects: RLEs, n_objects: Array, first: int) -> None:
    """Raises ShapeError that names the image if its masks have different sizes, since their IoU would always be 0."""
    sizes = np.concatenate([masks.sizes, objects.sizes])
    image = np.concatenate([np.repeat(np.arange(len(n)), n) for n in (n_found, n_objects)])
    order = np.argsort(image, kind="stable")
    sizes, image = sizes[order], image[order]
    wrong = (image[1:] == image[:-1]) & (sizes[1:] != sizes[:-1]).any(axis=1)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ShapeError(
            f"masks of image {first + image[i]} are of different sizes",
            expected=tuple(sizes[i].tolist()),
            got=tuple(sizes[i + 1].tolist()),
        )


def _masks_of(parts: Iterable[ArrayLike | RLEs], name: str, first: int) -> tuple[RLEs, Array]:
    masks = []
    for i, part in enumerate(parts):
        masks.append(as_rles(part, f"{name} of image {first + i}"))
    return RLEs.concatenate(masks), np.array([len(part) for part in masks], np.int64)
