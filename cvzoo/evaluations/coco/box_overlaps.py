"""IoU of detected and ground-truth boxes, bit for bit as pycocotools."""

import numpy as np

from cvzoo.typing.aliases import Array


def box_sides(bbox: Array) -> Array:
    """(5, N) float64: left, right, top, bottom and area.

    bbox: (N, 4) float64: x, y, width, height. The right side is rounded here, as in the reference.
    """
    x, y, width, height = bbox.T
    return np.stack((x, width + x, y, height + y, width * height))


def box_overlaps(
    dt_sides: Array, gt_sides: Array, crowd: Array, dt: Array, gt: Array, lowest: float
) -> tuple[Array, Array, Array]:
    """The pairs with an IoU of at least `lowest`, and their IoU.

    dt_sides, gt_sides: (5, N), (5, G) float64, of `box_sides`
    crowd: (G,) bool, crowd regions, where the denominator is the detection's area
    dt, gt: (p,) int64, columns of dt_sides and of gt_sides
    Returns (q,) int64, (q,) int64 and (q,) float64.
    """
    if lowest <= 0:  # disjoint boxes match, too
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


def _every_overlap(dt_sides: Array, gt_sides: Array, crowd: Array, dt: Array, gt: Array) -> Array:
    width = _shared(dt_sides[:2], gt_sides[:2], dt, gt)
    height = _shared(dt_sides[2:4], gt_sides[2:4], dt, gt)
    meet = (width > 0) & (height > 0)
    iou = np.zeros(dt.size)
    iou[meet] = _ratio(dt_sides[4], gt_sides[4], crowd, dt[meet], gt[meet], (width * height)[meet])
    return iou


def _shared(dt_ends: Array, gt_ends: Array, dt: Array, gt: Array) -> Array:
    return np.minimum(dt_ends[1][dt], gt_ends[1][gt]) - np.maximum(dt_ends[0][dt], gt_ends[0][gt])


def _ratio(dt_area: Array, gt_area: Array, crowd: Array, dt: Array, gt: Array, inter: Array) -> Array:
    area = dt_area[dt]
    union = np.where(crowd[gt], area, area + gt_area[gt] - inter)
    with np.errstate(all="ignore"):  # extreme sizes overflow to infinity here, as in the reference
        return inter / union
