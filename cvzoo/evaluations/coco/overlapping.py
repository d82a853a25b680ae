"""Pairs of detections and objects that overlap enough to match, for each kind of overlap."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.evaluations.coco.box_overlaps import box_overlaps, box_sides
from cvzoo.evaluations.coco.groups import COCOGroups, pairs_of_groups
from cvzoo.evaluations.coco.keypoint_overlaps import keypoint_overlaps
from cvzoo.evaluations.coco.mask_overlaps import MaskOverlaps
from cvzoo.evaluations.coco.mask_records import rectangles


def overlapping(gt, dt, groups: COCOGroups, *, iou_type, lowest, sigmas=None):
    """Places in groups.dt, (p,) int64 and rising, places in groups.gt, (p,) int64, and overlaps, (p,) float64.

    gt, dt: COCOGroundTruth and COCODetections; lowest: the smallest overlap that can match
    Raises ValueRangeError if what is to be compared was not given.
    """
    if not len(gt) or not len(dt):  # files without a record do not tell what their records would hold
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    overlap = {"bbox": _boxes, "segm": _masks, "keypoints": _points}[iou_type](gt, dt, groups, lowest, sigmas)
    found = [overlap(*block) for block in pairs_of_groups(groups, block=1 << 17)]
    if not found:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    return tuple(np.concatenate(part) for part in zip(*found))


def _boxes(gt, dt, groups, lowest, _):
    bbox = _given(dt.bbox, "boxes", "detections")
    dt_sides, gt_sides = box_sides(bbox[groups.dt]), box_sides(gt.bbox[groups.gt])
    crowd = gt.crowd[groups.gt]
    return lambda dts, gts: box_overlaps(dt_sides, gt_sides, crowd, dts, gts, lowest)


def _masks(gt, dt, groups, lowest, _):
    gt_masks = _given(gt.masks, "masks", "objects")
    dt_masks = dt.masks
    if dt_masks is None:  # pycocotools draws the boxes
        dt_masks = rectangles(_given(dt.bbox, "masks", "detections"), _sizes_of(gt, dt.image_id))

    overlaps = MaskOverlaps(dt_masks, gt_masks, gt.crowd, lowest)

    def overlap(dts, gts):
        enough, iou = overlaps(groups.dt[dts], groups.gt[gts])
        return dts[enough], gts[enough], iou

    return overlap


def _sizes_of(gt, image_id):
    if gt.img_sizes is None:
        raise ValueRangeError("boxes as masks need the width and height of every photo", got="photos without them")
    order = np.argsort(gt.img_ids)
    return gt.img_sizes[order][np.searchsorted(gt.img_ids[order], image_id)]


def _points(gt, dt, groups, lowest, sigmas):
    gt_points = _given(gt.keypoints, "points", "objects")[groups.gt]
    dt_points = _given(dt.keypoints, "points", "detections")[groups.dt]
    for name, points in (("objects", gt_points), ("detections", dt_points)):
        if len(points) and points.shape[1] != sigmas.size:
            raise ShapeError(
                f"{name} have {points.shape[1]} points, there are {sigmas.size} sigmas", hint="kpt_oks_sigmas=(...)"
            )
    area, bbox = gt.area[groups.gt], gt.bbox[groups.gt]

    def overlap(dts, gts):
        oks = keypoint_overlaps(dt_points[dts], gt_points[gts], area[gts], bbox[gts], sigmas)
        enough = np.flatnonzero(oks >= lowest)
        return dts[enough], gts[enough], oks[enough]

    return overlap


def _given(column, what, owner):
    if column is None:
        raise ValueRangeError(f"this evaluation compares {what}, and the {owner} have none")
    return column
