"""Targets of RetinaNet's anchors."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.loss.focal_loss import BACKGROUND, IGNORED
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.bbox_area import bbox_area
from cvzoo.geometry.bbox_iou import bbox_iou

# Number of pairs per IoU computation, to bound the memory
_COVERED = 0.5  # fraction of an anchor that one ignored object covers, from which the anchor is ignored
_PAIRS = 1 << 20  # boxes and anchors that are compared at a time, which bounds memory


class Overlaps(NamedTuple):
    """Pairs of an object's box and an anchor.

    box, anchor: (P,) int64 indices; iou: (P,) float32
    """

    box: np.ndarray
    anchor: np.ndarray
    iou: np.ndarray


class AnchorRows:
    """Anchors sorted for search: those of one vertical extent form a row, from left to right.

    anchors: (A, 4) float32, y_min x_min y_max x_max, of any order; a detector's grid has few different extents

    Two boxes reach an IoU only if their extents on either axis do, so a box is compared only with the rows of enough
    vertical overlap, and in them with the anchors of a near x_min: the cost grows with the boxes, not the anchors.
    """

    def __init__(self, anchors: np.ndarray):
        self.anchors = as_bbox(anchors, "anchors").astype(np.float32, copy=False)
        # a pair of values as one: rows need no order among themselves
        pairs = np.ascontiguousarray(self.anchors[:, ::2], np.float32).view(np.int64)[:, 0]
        _, first, row = np.unique(pairs, return_index=True, return_inverse=True)
        extents = self.anchors[first, ::2]
        self._order = np.lexsort((self.anchors[:, 1], row))
        self._low, self._high = extents[:, 0].copy(), extents[:, 1].copy()
        # one sorted array for all rows: rows are further apart than anything in them
        x_min = self.anchors[self._order, 1].astype(np.float64)
        self._left = float(x_min.min()) if len(x_min) else 0.0
        self._span = float(x_min.max()) - self._left + 1 if len(x_min) else 1.0
        self._keys = (x_min - self._left) + row[self._order] * (2 * self._span)
        self._area = bbox_area(self.anchors)

    def __len__(self) -> int:
        return len(self.anchors)

    def overlaps(self, bbox: np.ndarray, thresh: float) -> Overlaps:
        """All pairs with IoU >= thresh, bit for bit as `bbox_iou`, in no particular order.

        bbox: (R, 4) float32; thresh: above 0
        """
        bbox = as_bbox(bbox)
        matched = [Overlaps(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))]
        box, row = np.nonzero(self._vertical_iou(bbox) >= thresh * (1 - 1e-5))
        width = bbox[:, 3] - bbox[:, 1]
        # x_min of anchor and box differ by less than the union less the box: widened against rounding
        slack = (1 / thresh - 1) * width * (1 + 1e-5) + 1e-3
        first = np.clip(bbox[box, 1] - slack[box] - self._left, 0, self._span)
        last = np.clip(bbox[box, 1] + slack[box] - self._left, 0, self._span)
        start = np.searchsorted(self._keys, first + row * (2 * self._span), side="left")
        stop = np.searchsorted(self._keys, last + row * (2 * self._span), side="right")
        counts = stop - start
        ends = np.cumsum(counts)
        cuts = np.searchsorted(ends, np.arange(_PAIRS, ends[-1] if len(ends) else 0, _PAIRS))
        for part in np.split(np.arange(len(counts)), cuts):
            matched.append(self._exact(bbox, np.repeat(box[part], counts[part]), start[part], counts[part], thresh))
        return Overlaps(*map(np.concatenate, zip(*matched)))

    def nearest_best(self, bbox: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Each box's anchor of highest IoU, (R,) int64, and that IoU, (R,) float32.

        Of equals the one with the nearest center, then the first; -1 where no anchor overlaps. Computes every pair:
        meant for the few boxes that `overlaps` misses.
        """
        bbox = as_bbox(bbox)
        best, height = np.full(len(bbox), -1, np.int64), np.zeros(len(bbox), np.float32)
        if not len(self.anchors):
            return best, height
        middle = self.anchors[:, :2] + self.anchors[:, 2:]
        for i, bb in enumerate(bbox):
            iou = bbox_iou(bb[None], self.anchors)[0]
            equal = np.flatnonzero(iou >= iou.max())
            height[i] = iou[equal[0]]
            if height[i] > 0:
                far = ((middle[equal] - (bb[:2] + bb[2:])) ** 2).sum(axis=1)
                best[i] = equal[far.argmin()]
        return best, height

    def covered(self, region: np.ndarray, thresh: float) -> np.ndarray:
        """(A,) bool: whether at least `thresh` of the anchor's area is inside of one of the regions (K, 4)."""
        region = as_bbox(region, "region")
        covered = np.zeros(len(self.anchors), bool)
        for bb in region:
            side = np.minimum(self.anchors[:, 2:], bb[2:]) - np.maximum(self.anchors[:, :2], bb[:2])
            inside = np.maximum(side, 0).prod(axis=1)
            covered |= (inside >= thresh * self._area) & (inside > 0)
        return covered

    def _vertical_iou(self, bbox: np.ndarray) -> np.ndarray:
        """(R, rows) IoU of the boxes' and the rows' vertical extents."""
        low, high = bbox[:, :1], bbox[:, 2:3]
        inter = np.maximum(np.minimum(high, self._high) - np.maximum(low, self._low), 0)
        union = (high - low) + (self._high - self._low) - inter
        return np.divide(inter, union, out=np.zeros_like(inter), where=union > 0)

    def _exact(
        self, bbox: np.ndarray, box: np.ndarray, start: np.ndarray, counts: np.ndarray, thresh: float
    ) -> Overlaps:
        before = np.repeat(np.cumsum(counts) - counts, counts)
        anchor = self._order[np.arange(len(box)) - before + np.repeat(start, counts)]
        a, b = self.anchors[anchor], bbox[box]
        side = np.maximum(np.minimum(a[:, 2:], b[:, 2:]) - np.maximum(a[:, :2], b[:, :2]), 0)
        inter = side[:, 0] * side[:, 1]
        union = self._area[anchor] + bbox_area(bbox)[box] - inter
        iou = np.divide(inter, union, out=np.zeros_like(inter), where=union > 0)
        overlapping = iou >= thresh
        return Overlaps(box[overlapping], anchor[overlapping], iou[overlapping])


class Targets(NamedTuple):
    """Training targets of a batch of B images with A anchors each.

    label: (B, A) int32; a class, -1 background, -2 ignored
    positive: (P,) int64, indices of positive anchors among the B * A, ascending
    bbox: (P, 4) float32, their ground truth boxes, in pixels of the network's input
    anchor: (P, 4) float32, the anchors themselves
    """

    label: np.ndarray
    positive: np.ndarray
    bbox: np.ndarray
    anchor: np.ndarray


def match_anchors(
    rows: AnchorRows, bbox: np.ndarray, *, positive: float = 0.5, negative: float = 0.4, keep_best: bool = True
) -> np.ndarray:
    """The object matched to each anchor: (A,) int64, a row of bbox, -1 for background, -2 for ignored.

    rows: the anchors, ordered for search
    bbox: (R, 4) float32, y_min x_min y_max x_max; empty boxes match nothing
    positive: an anchor is matched to the object of highest IoU if that is at least this (of equals, the first)
    negative: it is background if the highest IoU is below this
    keep_best: whether an object without an anchor is matched to the anchor of highest IoU (of equals the one nearest
        to its center) unless that has an object; of several such objects, the one of highest IoU
    Raises ValueRangeError unless 0 < negative <= positive <= 1.
    Source: Lin et al., "Focal Loss for Dense Object Detection", 2017, section 4, without keep_best, which is Faster
    R-CNN's rule, for objects that no anchor fits.
    """
    if not 0 < negative <= positive <= 1:
        raise ValueRangeError(
            "match_anchors: thresholds must be 0 < negative <= positive <= 1", got=(negative, positive)
        )
    bbox = as_bbox(bbox)
    match = np.full(len(rows), BACKGROUND, np.int64)
    box, anchor, iou = rows.overlaps(bbox, negative)
    order = np.lexsort((box, -iou, anchor))
    box, anchor, iou = box[order], anchor[order], iou[order]
    first = np.ones(len(anchor), bool)
    first[1:] = anchor[1:] != anchor[:-1]
    match[anchor[first]] = np.where(iou[first] >= positive, box[first], IGNORED)
    if keep_best:
        _give_best(match, rows, bbox, box, anchor, iou)
    return match


def _give_best(
    match: np.ndarray, rows: AnchorRows, bbox: np.ndarray, box: np.ndarray, anchor: np.ndarray, iou: np.ndarray
) -> None:
    """Match, in place, every box without an anchor to its best one, see keep_best."""
    owned = np.zeros(len(bbox), bool)
    owned[match[match >= 0]] = True
    unmatched = np.flatnonzero(~owned & (bbox[:, 2:] > bbox[:, :2]).all(axis=1))
    if not len(unmatched):
        return
    best = np.full(len(bbox), -1, np.int64)
    height = np.zeros(len(bbox), np.float32)
    middle = rows.anchors[anchor, :2] + rows.anchors[anchor, 2:] - bbox[box, :2] - bbox[box, 2:]
    order = np.lexsort((anchor, (middle**2).sum(axis=1), -iou, box))
    seen, first = np.unique(box[order], return_index=True)
    best[seen], height[seen] = anchor[order][first], iou[order][first]
    missed = unmatched[best[unmatched] < 0]
    best[missed], height[missed] = rows.nearest_best(bbox[missed])
    unmatched = unmatched[best[unmatched] >= 0]
    unmatched = unmatched[np.argsort(height[unmatched], kind="stable")]  # the highest overlap is last and stays
    free = match[best[unmatched]] < 0
    match[best[unmatched][free]] = unmatched[free]


def assign_targets(
    rows: AnchorRows,
    bboxes: Sequence[np.ndarray],
    labels: Sequence[np.ndarray],
    ignored: Sequence[np.ndarray] | None = None,
    *,
    positive: float = 0.5,
    negative: float = 0.4,
    keep_best: bool = True,
) -> Targets:
    """The targets of a batch.

    bboxes, labels: of each image (R, 4) float32 in pixels of the network's input and (R,) int32; R may be 0
    ignored: of each image (R,) bool, True for crowds, difficult or cut objects: they are not targets, and an
        anchor covered by one to half is ignored unless it is matched
    positive, negative, keep_best: as in `match_anchors`
    Raises ShapeError if boxes, labels and flags differ in number.
    """
    label = np.full((len(bboxes), len(rows)), BACKGROUND, np.int32)
    positives, boxes = [np.empty(0, np.int64)], [np.empty((0, 4), np.float32)]
    ignored = [np.zeros(len(bbox), bool) for bbox in bboxes] if ignored is None else ignored
    if not len(bboxes) == len(labels) == len(ignored):
        raise ShapeError("bboxes, labels and ignored must have one element per image", got=(len(bboxes), len(labels)))
    for i, (bbox, classes, skip) in enumerate(zip(bboxes, labels, ignored)):
        bbox = as_bbox(bbox)
        if not len(bbox) == len(classes) == len(skip):
            raise ShapeError(f"image {i}: boxes and labels differ in number", got=(len(bbox), len(classes), len(skip)))
        skip = np.asarray(skip, bool)
        if skip.any():
            label[i, rows.covered(bbox[skip], _COVERED)] = IGNORED
            bbox, classes = bbox[~skip], np.asarray(classes)[~skip]
        if not len(bbox):
            continue
        match = match_anchors(rows, bbox, positive=positive, negative=negative, keep_best=keep_best)
        label[i, match == IGNORED] = IGNORED
        matched = np.flatnonzero(match >= 0)
        label[i, matched] = np.asarray(classes, np.int32)[match[matched]]
        positives.append(matched + i * len(rows))
        boxes.append(bbox[match[matched]].astype(np.float32, copy=False))
    place = np.concatenate(positives)
    anchor = rows.anchors[place % max(len(rows), 1)].astype(np.float32, copy=False)
    return Targets(label, place, np.concatenate(boxes), anchor)
