"""What each anchor should say about a photo's objects."""

from typing import NamedTuple

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.loss.focal_loss import BACKGROUND, IGNORED
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.links.model.retinanet.anchor_rows import AnchorRows


class Targets(NamedTuple):
    """Of a batch of B photos with A anchors each.

    label: (B, A) int32; a class, -1 background, -2 ignored
    positive: (P,) int64, places among the B * A anchors that have an object, ascending
    bbox: (P, 4) float32, the true boxes of these, in the network's pixels
    anchor: (P, 4) float32, the anchors themselves
    """

    label: np.ndarray
    positive: np.ndarray
    bbox: np.ndarray
    anchor: np.ndarray


def match_anchors(
    rows: AnchorRows, bbox: np.ndarray, *, positive: float = 0.5, negative: float = 0.4, keep_best: bool = True
) -> np.ndarray:
    """Each anchor's object: (A,) int64, a row of bbox, -1 for background, -2 for neither.

    rows: the anchors, ordered for search
    bbox: (R, 4) float32, y_min x_min y_max x_max; empty boxes match nothing
    positive: an anchor belongs to the object of highest IoU if that is at least this (of equals, the first)
    negative: it is background if the highest IoU is below this
    keep_best: an object that no anchor belongs to gets the one of highest IoU (of equals the one nearest to its middle)
        if no other object has it; of several that want it, the one of highest IoU
    Raises ValueRangeError unless 0 < negative <= positive <= 1.
    Source: Lin et al., "Focal Loss for Dense Object Detection", 2017, section 4, without keep_best, which is Faster
    R-CNN's rule and lets objects be learned that no anchor fits.
    """
    if not 0 < negative <= positive <= 1:
        raise ValueRangeError("match_anchors wants 0 < negative <= positive <= 1", got=(negative, positive))
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
    """Changes match so that every box that is not empty has an anchor, if no other needs it more."""
    owned = np.zeros(len(bbox), bool)
    owned[match[match >= 0]] = True
    lonely = np.flatnonzero(~owned & (bbox[:, 2:] > bbox[:, :2]).all(axis=1))
    if not len(lonely):
        return
    best = np.full(len(bbox), -1, np.int64)
    height = np.zeros(len(bbox), np.float32)
    middle = rows.anchors[anchor, :2] + rows.anchors[anchor, 2:] - bbox[box, :2] - bbox[box, 2:]
    order = np.lexsort((anchor, (middle**2).sum(axis=1), -iou, box))
    seen, first = np.unique(box[order], return_index=True)
    best[seen], height[seen] = anchor[order][first], iou[order][first]
    missed = lonely[best[lonely] < 0]
    best[missed], height[missed] = rows.nearest_best(bbox[missed])
    lonely = lonely[best[lonely] >= 0]
    lonely = lonely[np.argsort(height[lonely], kind="stable")]  # who overlaps most comes last and stays
    free = match[best[lonely]] < 0
    match[best[lonely][free]] = lonely[free]


def assign_targets(
    rows: AnchorRows,
    bboxes: list[np.ndarray],
    labels: list[np.ndarray],
    ignored: list[np.ndarray] | None = None,
    *,
    positive: float = 0.5,
    negative: float = 0.4,
    keep_best: bool = True,
    cover: float = 0.5,
) -> Targets:
    """The targets of a batch.

    bboxes, labels: of each photo (R, 4) float32 in the network's pixels and (R,) int32; R may be 0
    ignored: of each photo (R,) bool, True for crowds, difficult or cut objects: they are nobody's target, and an
        anchor of which a share of `cover` lies in one is ignored unless it has another object
    positive, negative, keep_best: as in `match_anchors`
    Raises ShapeError if boxes, labels and flags do not belong together.
    """
    label = np.full((len(bboxes), len(rows)), BACKGROUND, np.int32)
    positives, boxes = [np.empty(0, np.int64)], [np.empty((0, 4), np.float32)]
    ignored = [np.zeros(len(bbox), bool) for bbox in bboxes] if ignored is None else ignored
    if not len(bboxes) == len(labels) == len(ignored):
        raise ShapeError("bboxes, labels and ignored need one element a photo", got=(len(bboxes), len(labels)))
    for i, (bbox, classes, skip) in enumerate(zip(bboxes, labels, ignored)):
        bbox = as_bbox(bbox)
        if not len(bbox) == len(classes) == len(skip):
            raise ShapeError(f"photo {i}: boxes and labels differ in number", got=(len(bbox), len(classes), len(skip)))
        skip = np.asarray(skip, bool)
        if skip.any():
            label[i, rows.covered(bbox[skip], cover)] = IGNORED
            bbox, classes = bbox[~skip], np.asarray(classes)[~skip]
        if not len(bbox):
            continue
        match = match_anchors(rows, bbox, positive=positive, negative=negative, keep_best=keep_best)
        label[i, match == IGNORED] = IGNORED
        found = np.flatnonzero(match >= 0)
        label[i, found] = np.asarray(classes, np.int32)[match[found]]
        positives.append(found + i * len(rows))
        boxes.append(bbox[match[found]].astype(np.float32, copy=False))
    place = np.concatenate(positives)
    anchor = rows.anchors[place % max(len(rows), 1)].astype(np.float32, copy=False)
    return Targets(label, place, np.concatenate(boxes), anchor)
