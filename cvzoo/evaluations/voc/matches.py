"""Pascal VOC's matching: true positives, false positives and ignored detections."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from cvzoo.errors.exceptions import ConfigError, DtypeError, ShapeError, ValueRangeError
from cvzoo.evaluations.instances import Instances, as_array, join_bboxes, join_flags, join_instances
from cvzoo.evaluations.pairs import bbox_overlaps, pairs_within_groups
from cvzoo.evaluations.voc.average_precision import Curves
from cvzoo.geometry.rle import RLEs
from cvzoo.geometry.rle_iou import rle_iou_pairs
from cvzoo.typing.aliases import Array, ArrayLike


@dataclasses.dataclass(frozen=True, eq=False)
class VOCMatches:
    """Matched detections, the input of average precision.

    photo: (N,) int64, the index of each detection's image in the data set, which breaks ties of scores
    label: (N,) int64; score: (N,) float64
    match: (N,) int8, 1 true positive, 0 false positive, -1 ignored (it matches a difficult object)
    n_positive: (L,) int64, objects of each class that are not difficult, up to the highest label
    n_photo: number of images
    """

    image: Array
    label: Array
    score: Array
    match: Array
    n_positive: Array
    n_photo: int

    def prec_rec(self, n_fg_class: int | None = None) -> tuple[Curves, Curves]:
        """Precision and recall of each class after each detection, highest-scoring first: two lists, prec and rec.

        n_fg_class: number of classes; None: up to the highest class seen
        rec is None for a class without objects, and prec as well if it has no detections either. Precision is NaN as
        long as all detections are ignored. Equal scores keep the order of images, then the order within the image.
        """
        order = np.lexsort((self.image, -self.score, self.label))
        n = len(self.n_positive)
        label, match = self.label[order], self.match[order]
        begin, end = (np.searchsorted(label, np.arange(n), side=side) for side in ("left", "right"))
        prec: Curves = [None] * max(n, n_fg_class or 0)
        rec: Curves = list(prec)
        for l in range(n):
            # a match of -1, with a difficult object, is neither
            tp = np.cumsum(match[begin[l] : end[l]] == 1)
            fp = np.cumsum(match[begin[l] : end[l]] == 0)
            if len(tp) or self.n_positive[l]:
                prec[l] = np.divide(tp, tp + fp, out=np.full(len(tp), np.nan), where=tp + fp > 0)
            if self.n_positive[l]:
                rec[l] = tp / self.n_positive[l]
        return prec, rec

    @classmethod
    def join(cls, parts: Iterable["VOCMatches"]) -> "VOCMatches":
        """The matches of several parts of a data set; their images keep their indices."""
        parts = list(parts)
        n_positive = np.zeros(max((len(part.n_positive) for part in parts), default=0), np.int64)
        for part in parts:
            n_positive[: len(part.n_positive)] += part.n_positive
        return cls(
            np.concatenate([np.empty(0, np.int64), *(part.image for part in parts)]),
            np.concatenate([np.empty(0, np.int64), *(part.label for part in parts)]),
            np.concatenate([np.empty(0, np.float64), *(part.score for part in parts)]),
            np.concatenate([np.empty(0, np.int8), *(part.match for part in parts)]),
            n_positive,
            sum(part.n_photo for part in parts),
        )


def match_voc_bboxes(
    pred_bboxes: Sequence[ArrayLike],
    pred_labels: Sequence[ArrayLike],
    pred_scores: Sequence[ArrayLike],
    gt_bboxes: Sequence[ArrayLike],
    gt_labels: Sequence[ArrayLike],
    gt_difficults: Sequence[ArrayLike] | None = None,
    *,
    iou_thresh: float = 0.5,
    plus: int = 1,
) -> VOCMatches:
    """The matches of boxes on B images; the arguments are lists of B, as for `eval_detection_voc`."""
    pred = join_instances(pred_bboxes, pred_labels, pred_scores, name="pred")
    gt = join_instances(gt_bboxes, gt_labels, name="gt")
    pred_bbox, gt_bbox = join_bboxes(pred, "pred_bboxes"), join_bboxes(gt, "gt_bboxes")
    if plus not in (0, 1):
        raise ConfigError("plus must be 1 (VOC's inclusive pixels) or 0 (continuous boxes)", got=plus)

    def overlaps(a: Array, b: Array) -> Array:
        return bbox_overlaps(pred_bbox, gt_bbox, a, b, plus=plus)

    return _match(pred, gt, _flags(gt_difficults, gt), overlaps, iou_thresh)


def match_voc_masks(
    pred_masks: Sequence[ArrayLike | RLEs],
    pred_labels: Sequence[ArrayLike],
    pred_scores: Sequence[ArrayLike],
    gt_masks: Sequence[ArrayLike | RLEs],
    gt_labels: Sequence[ArrayLike],
    gt_difficults: Sequence[ArrayLike] | None = None,
    *,
    iou_thresh: float = 0.5,
) -> VOCMatches:
    """The matches of masks on B images; the arguments are lists of B, as for `eval_instance_segmentation_voc`."""
    pred_masks, gt_masks = (
        [as_rles(mask, f"{name} of image {image}") for image, mask in enumerate(masks)]
        for masks, name in ((pred_masks, "pred_masks"), (gt_masks, "gt_masks"))
    )
    for image, (a, b) in enumerate(zip(pred_masks, gt_masks)):
        if len(a) and len(b) and ((a.sizes != a.sizes[0]).any() or (b.sizes != a.sizes[0]).any()):
            raise ShapeError(
                f"the masks of image {image} are of different sizes",
                expected=tuple(b.sizes[0].tolist()),
                got=tuple(a.sizes[0].tolist()),
            )
    pred = join_instances(pred_masks, pred_labels, pred_scores, name="pred")
    gt = join_instances(gt_masks, gt_labels, name="gt")
    pred_rle, gt_rle = RLEs.concatenate(pred_masks), RLEs.concatenate(gt_masks)

    def overlaps(a: Array, b: Array) -> Array:
        return rle_iou_pairs(pred_rle, gt_rle, a, b)

    return _match(pred, gt, _flags(gt_difficults, gt), overlaps, iou_thresh)


def as_rles(mask: ArrayLike | RLEs, name: str) -> RLEs:
    """RLEs of the masks of one image, from (R, H, W) bool or RLEs.

    Raises ShapeError or DtypeError, which begin with the name, for any other input.
    """
    if isinstance(mask, RLEs):
        return mask
    dense = as_array(mask, name)
    if dense.size == 0 and dense.ndim == 1:
        dense = np.zeros((0, 0, 0), bool)
    if dense.ndim != 3:
        raise ShapeError(f"{name} must be (R, H, W)", got=dense.shape)
    if dense.dtype != bool:
        raise DtypeError(f"{name} must be bool", got=dense.dtype)
    return RLEs.from_masks(dense)


def _flags(difficults: Sequence[ArrayLike] | None, gt: Instances) -> Array:
    if difficults is None:
        return np.zeros(len(gt.label), bool)
    return join_flags(difficults, np.diff(gt.offsets), "gt_difficults")


def _match(
    pred: Instances, gt: Instances, difficult: Array, overlaps: Callable[[Array, Array], Array], iou_thresh: float
) -> VOCMatches:
    if not 0 < iou_thresh <= 1:
        raise ValueRangeError("iou_thresh must be above 0 and at most 1", got=iou_thresh)
    n_class = int(max(pred.label.max(initial=-1), gt.label.max(initial=-1))) + 1
    # an image and a class: boxes are compared within these only
    pred_group, gt_group = (each.image * n_class + each.label for each in (pred, gt))
    best, overlap = _best(pred_group, gt_group, overlaps)
    hit = np.flatnonzero(overlap >= iou_thresh)
    match = np.zeros(len(pred.label), np.int8)
    match[hit[difficult[best[hit]]]] = -1
    hit = hit[~difficult[best[hit]]]
    # of the detections that chose one object, the highest-scoring is right; the first one among equals
    hit = hit[np.argsort(-pred.score[hit], kind="stable")]
    match[hit[np.unique(best[hit], return_index=True)[1]]] = 1
    n_positive = np.bincount(gt.label[~difficult], minlength=n_class)
    return VOCMatches(pred.image, pred.label, pred.score, match, n_positive, len(pred.offsets) - 1)


def _best(pred_group: Array, gt_group: Array, overlaps: Callable[[Array, Array], Array]) -> tuple[Array, Array]:
    """The row of the object of highest IoU with each detection, the first of equal ones, and the IoU."""
    best, overlap = np.zeros(len(pred_group), np.int64), np.zeros(len(pred_group))
    for rows, first, pred, gt in pairs_within_groups(pred_group, gt_group):
        ious = overlaps(pred, gt)
        most = np.maximum.reduceat(ious, first)
        top = np.flatnonzero(ious == np.repeat(most, np.diff(np.append(first, len(pred)))))
        best[rows] = gt[top[np.searchsorted(top, first)]]
        overlap[rows] = most
    return best, overlap
