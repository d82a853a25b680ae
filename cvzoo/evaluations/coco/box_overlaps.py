"""Overlap of detected boxes and objects' boxes, with the bits that pycocotools gives."""

import numpy as np


def box_sides(bbox):
    """(5, N) float64: left, right, top, bottom and area.

    bbox: (N, 4) float64: x, y, width, height. The right side is rounded here, as the reference rounds it.
    """
    x, y, width, height = bbox.T
    return np.stack((x, width + x, y, height + y, width * height))


def box_overlaps(dt_sides, gt_sides, crowd, dt, gt, lowest):
    """Those of the pairs that overlap by `lowest` or more, and by how much.

    dt_sides, gt_sides: (5, N), (5, G) float64, of `box_sides`
    crowd: (G,) bool: the overlap with a crowd is measured against the detection alone
    dt, gt: (p,) int64, columns of dt_sides and of gt_sides
    Returns (q,) int64, (q,) int64 and (q,) float64.
    """
    if lowest <= 0:  # then boxes that do not meet match as well
        return dt, gt, _every_overlap(dt_sides, gt_sides, crowd, dt, gt)
    width = _shared(dt_sides[:2], gt_sides[:2], dt, gt)
    meet = np.flatnonzero(width > 0)
    dt, gt, width = dt[meet], gt[meet], width[meet]
    height = _shared(dt_sides[2:4], gt_sides[2:4], dt, gt)
    meet = np.flatnonzero(height > 0)
    dt, gt = dt[meet], gt[meet]
    iou = _ratio(dt_sides[4], gt_sides[4], crowd, dt, gt, width[meet] * height[meet])
    enough = np.flatnonzero(iou >= lowest)
    return dt[enough], gt[enough], iou[enough]


def _every_overlap(dt_sides, gt_sides, crowd, dt, gt):
    width = _shared(dt_sides[:2], gt_sides[:2], dt, gt)
    height = _shared(dt_sides[2:4], gt_sides[2:4], dt, gt)
    meet = (width > 0) & (height > 0)
    iou = np.zeros(dt.size)
    iou[meet] = _ratio(dt_sides[4], gt_sides[4], crowd, dt[meet], gt[meet], (width * height)[meet])
    return iou


def _shared(dt_ends, gt_ends, dt, gt):
    return np.minimum(dt_ends[1][dt], gt_ends[1][gt]) - np.maximum(dt_ends[0][dt], gt_ends[0][gt])


def _ratio(dt_area, gt_area, crowd, dt, gt, inter):
    area = dt_area[dt]
    union = np.where(crowd[gt], area, area + gt_area[gt] - inter)
    with np.errstate(all="ignore"):  # sizes near the ends of float64 give infinities here, in the reference as well
        return inter / union
