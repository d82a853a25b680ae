"""Which detections Pascal VOC counts as right, as wrong or not at all."""

import dataclasses

import numpy as np

from cvzoo.errors.exceptions import ConfigError, DtypeError, ShapeError, ValueRangeError
from cvzoo.evaluations.pairs import bbox_overlaps, pairs_within_groups
from cvzoo.evaluations.photos import Instances, as_array, join_bboxes, join_flags, join_instances
from cvzoo.geometry.rle import RLEs
from cvzoo.geometry.rle_iou import rle_iou_pairs


@dataclasses.dataclass(frozen=True, eq=False)
class VOCMatches:
    """All that average precision needs to know of detections and objects: a few numbers a detection.

    photo: (N,) int64, the place of each detection's photo in the data set; ties of scores are settled by it
    label: (N,) int64; score: (N,) float64
    match: (N,) int8, 1 right, 0 wrong, -1 not counted (it hit a difficult object)
    n_positive: (L,) int64, objects of each class that are not difficult; as long as the highest class seen needs
    n_photo: photos seen
    """

    photo: np.ndarray
    label: np.ndarray
    score: np.ndarray
    match: np.ndarray
    n_positive: np.ndarray
    n_photo: int

    def prec_rec(self, n_fg_class=None):
        """Precision and recall of each class after each detection, surest first: two lists, prec and rec.

        n_fg_class: how many classes there are; None: up to the highest class seen
        rec holds None for a class without objects, and prec as well if it has no detections either. Precision is NaN
        as long as nothing counted. Equal scores keep the order of photos, then the order on the photo.
        """
        order = np.lexsort((self.photo, -self.score, self.label))
        n = len(self.n_positive)
        label, match = self.label[order], self.match[order]
        begin, end = (np.searchsorted(label, np.arange(n), side=side) for side in ("left", "right"))
        prec, rec = ([None] * max(n, n_fg_class or 0) for _ in range(2))
        for l in range(n):
            tp = np.cumsum(match[begin[l] : end[l]] == 1)
            fp = np.cumsum(match[begin[l] : end[l]] == 0)
            if len(tp) or self.n_positive[l]:
                prec[l] = np.divide(tp, tp + fp, out=np.full(len(tp), np.nan), where=tp + fp > 0)
            if self.n_positive[l]:
                rec[l] = tp / self.n_positive[l]
        return prec, rec

    @classmethod
    def join(cls, parts):
        """The matches of several parts of a data set; their photos keep their numbers."""
        parts = list(parts)
        n_positive = np.zeros(max((len(part.n_positive) for part in parts), default=0), np.int64)
        for part in parts:
            n_positive[: len(part.n_positive)] += part.n_positive
        empty = cls(*(np.empty(0, dtype) for dtype in (np.int64, np.int64, np.float64, np.int8)), n_positive, 0)
        columns = ((part.photo, part.label, part.score, part.match) for part in [*parts, empty])
        return cls(*map(np.concatenate, zip(*columns)), n_positive, sum(part.n_photo for part in parts))


def match_voc_bboxes(
    pred_bboxes, pred_labels, pred_scores, gt_bboxes, gt_labels, gt_difficults=None, *, iou_thresh=0.5, plus=1
) -> VOCMatches:
    """The matches of boxes on B photos; the arguments are lists of B, as for `eval_detection_voc`."""
    pred = join_instances(pred_bboxes, pred_labels, pred_scores, name="pred")
    gt = join_instances(gt_bboxes, gt_labels, name="gt")
    pred_bbox, gt_bbox = join_bboxes(pred, "pred_bboxes"), join_bboxes(gt, "gt_bboxes")
    if plus not in (0, 1):
        raise ConfigError("plus is the rule of pixels, 1 (VOC's) or 0 (continuous)", got=plus)

    def overlaps(a, b):
        return bbox_overlaps(pred_bbox, gt_bbox, a, b, plus=plus)

    return _match(pred, gt, _flags(gt_difficults, gt), overlaps, iou_thresh)


def match_voc_masks(
    pred_masks, pred_labels, pred_scores, gt_masks, gt_labels, gt_difficults=None, *, iou_thresh=0.5
) -> VOCMatches:
    """The matches of masks on B photos; the arguments are lists of B, as for `eval_instance_segmentation_voc`."""
    pred_masks, gt_masks = (
        [as_rles(mask, f"{name} of photo {photo}") for photo, mask in enumerate(masks)]
        for masks, name in ((pred_masks, "pred_masks"), (gt_masks, "gt_masks"))
    )
    for photo, (a, b) in enumerate(zip(pred_masks, gt_masks)):
        if len(a) and len(b) and ((a.sizes != a.sizes[0]).any() or (b.sizes != a.sizes[0]).any()):
            raise ShapeError(
                f"the masks of photo {photo} are of different sizes",
                expected=tuple(b.sizes[0].tolist()),
                got=tuple(a.sizes[0].tolist()),
            )
    pred = join_instances(pred_masks, pred_labels, pred_scores, name="pred")
    gt = join_instances(gt_masks, gt_labels, name="gt")
    pred_rle, gt_rle = RLEs.concatenate(pred_masks), RLEs.concatenate(gt_masks)

    def overlaps(a, b):
        return rle_iou_pairs(pred_rle, gt_rle, a, b)

    return _match(pred, gt, _flags(gt_difficults, gt), overlaps, iou_thresh)


def as_rles(mask, name) -> RLEs:
    """Run-length masks of one photo, from (R, H, W) bool unless they are so already.

    Raises ShapeError or DtypeError, which begin with the name, if it is neither.
    """
    if isinstance(mask, RLEs):
        return mask
    mask = as_array(mask, name)
    if mask.size == 0 and mask.ndim == 1:
        mask = np.zeros((0, 0, 0), bool)
    if mask.ndim != 3:
        raise ShapeError(f"{name} must be (R, H, W)", got=mask.shape)
    if mask.dtype != bool:
        raise DtypeError(f"{name} must be bool", got=mask.dtype)
    return RLEs.from_masks(mask)


def _flags(difficults, gt: Instances):
    if difficults is None:
        return np.zeros(len(gt.label), bool)
    return join_flags(difficults, np.diff(gt.offsets), "gt_difficults")


def _match(pred: Instances, gt: Instances, difficult, overlaps, iou_thresh):
    if not 0 < iou_thresh <= 1:
        raise ValueRangeError("iou_thresh must be above 0 and at most 1", got=iou_thresh)
    n_class = int(max(pred.label.max(initial=-1), gt.label.max(initial=-1))) + 1
    pred_group, gt_group = (each.photo * n_class + each.label for each in (pred, gt))
    best, overlap = _best(pred_group, gt_group, overlaps)
    hit = np.flatnonzero(overlap >= iou_thresh)
    match = np.zeros(len(pred.label), np.int8)
    match[hit[difficult[best[hit]]]] = -1
    hit = hit[~difficult[best[hit]]]
    # of the detections that chose one object, the surest is right; the first one among equals
    hit = hit[np.argsort(-pred.score[hit], kind="stable")]
    match[hit[np.unique(best[hit], return_index=True)[1]]] = 1
    n_positive = np.bincount(gt.label[~difficult], minlength=n_class)
    return VOCMatches(pred.photo, pred.label, pred.score, match, n_positive, len(pred.offsets) - 1)


def _best(pred_group, gt_group, overlaps):
    """The row of the object that overlaps each detection most, the first among equals, and how much."""
    best, overlap = np.zeros(len(pred_group), np.int64), np.zeros(len(pred_group))
    for rows, first, pred, gt in pairs_within_groups(pred_group, gt_group):
        found = overlaps(pred, gt)
        most = np.maximum.reduceat(found, first)
        top = np.flatnonzero(found == np.repeat(most, np.diff(np.append(first, len(pred)))))
        best[rows] = gt[top[np.searchsorted(top, first)]]
        overlap[rows] = most
    return best, overlap
