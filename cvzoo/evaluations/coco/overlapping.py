"""Pairs of detections and objects with sufficient IoU to match, for boxes, masks and keypoints."""

from collections.abc import Callable
from typing import TypeAlias, TypeVar

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.evaluations.coco.box_overlaps import box_overlaps, box_sides
from cvzoo.evaluations.coco.detections import COCODetections
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.evaluations.coco.groups import COCOGroups, pairs_of_groups
from cvzoo.evaluations.coco.keypoint_overlaps import keypoint_overlaps
from cvzoo.evaluations.coco.mask_overlaps import MaskOverlaps
from cvzoo.evaluations.coco.mask_records import rectangles
from cvzoo.evaluations.coco.parameters import IoUType
from cvzoo.typing.aliases import Array

_T = TypeVar("_T")
Overlap: TypeAlias = Callable[[Array, Array], tuple[Array, Array, Array]]  # (dts, gts) -> those that overlap, and IoU


def overlapping(
    gt: COCOGroundTruth,
    dt: COCODetections,
    groups: COCOGroups,
    *,
    iou_type: IoUType,
    lowest: float,
    sigmas: Array,
) -> tuple[Array, Array, Array]:
    """Indices into groups.dt, (p,) int64, ascending, indices into groups.gt, (p,) int64, and IoU, (p,) float64.

    lowest: the smallest IoU that can match
    Raises ValueRangeError if the boxes, masks or keypoints to compare are missing.
    """
    if not len(gt) or not len(dt):  # empty files do not show whether they would have boxes, masks or keypoints
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    overlap = {"bbox": _boxes, "segm": _masks, "keypoints": _points}[iou_type](gt, dt, groups, lowest, sigmas)
    # in blocks: intermediate arrays of all pairs at once would exceed the caches, and for large data sets the memory
    pairs = [overlap(*block) for block in pairs_of_groups(groups, block=1 << 17)]
    if not pairs:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    dts, gts, iou = (np.concatenate(part) for part in zip(*pairs))
    return dts, gts, iou


def _boxes(gt: COCOGroundTruth, dt: COCODetections, groups: COCOGroups, lowest: float, _: Array) -> Overlap:
    bbox = _given(dt.bbox, "boxes", "detections")
    dt_sides, gt_sides = box_sides(bbox[groups.dt]), box_sides(gt.bbox[groups.gt])
    crowd = gt.crowd[groups.gt]
    return lambda dts, gts: box_overlaps(dt_sides, gt_sides, crowd, dts, gts, lowest)


def _masks(gt: COCOGroundTruth, dt: COCODetections, groups: COCOGroups, lowest: float, _: Array) -> Overlap:
    gt_masks = _given(gt.masks, "masks", "objects")
    dt_masks = dt.masks
    if dt_masks is None:  # as pycocotools, rasterize the boxes
        dt_masks = rectangles(_given(dt.bbox, "masks", "detections"), _sizes_of(gt, dt.image_id))

    overlaps = MaskOverlaps(dt_masks, gt_masks, gt.crowd, lowest)

    def overlap(dts: Array, gts: Array) -> tuple[Array, Array, Array]:
        enough, iou = overlaps(groups.dt[dts], groups.gt[gts])
        return dts[enough], gts[enough], iou

    return overlap


def _sizes_of(gt: COCOGroundTruth, image_id: Array) -> Array:
    if gt.img_sizes is None:
        raise ValueRangeError("boxes as masks need the width and height of every image", got="images without size")
    order = np.argsort(gt.img_ids)
    return gt.img_sizes[order][np.searchsorted(gt.img_ids[order], image_id)]


def _points(gt: COCOGroundTruth, dt: COCODetections, groups: COCOGroups, lowest: float, sigmas: Array) -> Overlap:
    gt_points = _given(gt.keypoints, "keypoints", "objects")[groups.gt]
    dt_points = _given(dt.keypoints, "keypoints", "detections")[groups.dt]
    for name, points in (("objects", gt_points), ("detections", dt_points)):
        if len(points) and points.shape[1] != sigmas.size:
            raise ShapeError(
                f"{name} have {points.shape[1]} keypoints for {sigmas.size} sigmas", hint="kpt_oks_sigmas=(...)"
            )
    area, bbox = gt.area[groups.gt], gt.bbox[groups.gt]

    def overlap(dts: Array, gts: Array) -> tuple[Array, Array, Array]:
        oks = keypoint_overlaps(dt_points[dts], gt_points[gts], area[gts], bbox[gts], sigmas)
        enough = np.flatnonzero(oks >= lowest)
        return dts[enough], gts[enough], oks[enough]

    return overlap


def _given(column: _T | None, what: str, owner: str) -> _T:
    if column is None:
        raise ValueRangeError(f"this evaluation compares {what}, and the {owner} have none")
    return column
