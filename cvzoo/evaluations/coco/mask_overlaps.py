"""IoU of detected and ground-truth masks, bit for bit as pycocotools."""

import numpy as np

from cvzoo.geometry.rle import RLEs
from cvzoo.geometry.rle_iou import rle_difference
from cvzoo.typing.aliases import Array


class MaskOverlaps:
    """IoU of pairs of masks above a threshold; upper bounds from areas and columns rule most other pairs out.

    dt_masks, gt_masks: RLEs of length N and G; crowd: (G,) bool, where the denominator is the detection's area
    lowest: the smallest IoU that is of interest
    """

    def __init__(self, dt_masks: RLEs, gt_masks: RLEs, crowd: Array, lowest: float) -> None:
        self.dt_masks, self.gt_masks, self.crowd, self.lowest = dt_masks, gt_masks, crowd, lowest
        self.dt_area, self.gt_area = dt_masks.area(), gt_masks.area()
        self.dt_columns, self.gt_columns = _columns(dt_masks), _columns(gt_masks)

    def __call__(self, dt: Array, gt: Array) -> tuple[Array, Array]:
        """The indices of the pairs with an IoU of at least `lowest`, (q,) int64, and their IoU, (q,) float64.

        dt, gt: (p,) int64, rows of dt_masks and of gt_masks
        Masks of different sizes have an IoU of -1, as in the reference.
        """
        like = (self.dt_masks.sizes[dt] == self.gt_masks.sizes[gt]).all(axis=1)
        if self.lowest > 0:
            maybe = np.flatnonzero(like & self._may_reach(dt, gt))
            iou = self._iou(dt[maybe], gt[maybe])
        else:
            maybe = np.arange(len(dt))
            iou = np.full(len(dt), -1.0)
            iou[like] = self._iou(dt[like], gt[like])
            # the reference compares boxes first: masks with disjoint boxes have an IoU of 0 whatever their sizes
            iou[~like & (self._shared_columns(dt, gt) <= 0)] = 0.0
        enough = np.flatnonzero(iou >= self.lowest)
        return maybe[enough], iou[enough]

    def _shared_columns(self, dt: Array, gt: Array) -> Array:
        (dt_first, dt_last), (gt_first, gt_last) = self.dt_columns, self.gt_columns
        return np.minimum(dt_last[dt], gt_last[gt]) + 1 - np.maximum(dt_first[dt], gt_first[gt])

    def _may_reach(self, dt: Array, gt: Array) -> Array:
        area, other = self.dt_area[dt], self.gt_area[gt]
        most = np.maximum(self._shared_columns(dt, gt), 0) * self.dt_masks.sizes[dt, 0].astype(np.int64)
        most = np.minimum(most, np.minimum(area, other))
        least_union = np.where(self.crowd[gt], area, area + other - most)
        return (most > 0) & (most >= self.lowest * least_union * (1 - 1e-9))

    def _iou(self, dt: Array, gt: Array) -> Array:
        area, other = self.dt_area[dt], self.gt_area[gt]
        inter = (area + other - rle_difference(self.dt_masks, self.gt_masks, dt, gt)) // 2
        union = np.where(self.crowd[gt], area, area + other - inter)
        return np.divide(inter, union, out=np.zeros(len(inter)), where=inter > 0)


def _columns(masks: RLEs) -> tuple[Array, Array]:
    """Bounds of the columns with foreground, first and last, (R,) int64 each; last < first for an empty mask."""
    length = np.diff(masks.offsets)
    height = np.maximum(masks.sizes[:, 0].astype(np.int64), 1)
    pixels = masks.sizes[:, 0].astype(np.int64) * masks.sizes[:, 1]
    some = length > 1
    first, last = np.zeros(len(masks), np.int64), np.full(len(masks), -1)
    start, stop = masks.offsets[:-1][some], masks.offsets[1:][some] - 1
    behind = np.where(length[some] % 2 == 1, masks.counts[stop], 0)  # an odd run is background
    first[some] = masks.counts[start] // height[some]
    last[some] = (pixels[some] - behind - 1) // height[some]
    return first, last
