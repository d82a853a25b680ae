"""Detections, objects and their overlaps on all photos, by columns: what every analysis starts from."""

import dataclasses

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.evaluations.coco.keypoint_overlaps import keypoint_overlaps
from cvzoo.evaluations.coco.parameters import OKS_SIGMAS
from cvzoo.evaluations.pairs import bbox_overlaps, pairs_within_groups
from cvzoo.evaluations.photos import join_bboxes, join_flags, join_instances, same_length
from cvzoo.evaluations.voc.matches import as_rles
from cvzoo.geometry.rle import RLEs
from cvzoo.geometry.rle_iou import rle_iou_pairs

# Pairs that overlap less are of no interest to any analysis
LEAST_OVERLAP = 0.1


@dataclasses.dataclass(frozen=True, eq=False)
class DetectionTable:
    """D detections and G objects, and the P pairs of one photo that overlap by LEAST_OVERLAP or more.

    pred_photo, pred_label: (D,) int64; pred_score: (D,) float64
    gt_photo, gt_label: (G,) int64; gt_ignored: (G,) bool, difficult objects and crowds: they are neither to be found,
        nor is it wrong to find them
    pair_pred, pair_gt: (P,) int64, rows of the above; pair_iou: (P,) float64
    n_fg_class: how many classes there are
    """

    pred_photo: np.ndarray
    pred_label: np.ndarray
    pred_score: np.ndarray
    gt_photo: np.ndarray
    gt_label: np.ndarray
    gt_ignored: np.ndarray
    pair_pred: np.ndarray
    pair_gt: np.ndarray
    pair_iou: np.ndarray
    n_fg_class: int

    @property
    def n_positive(self) -> np.ndarray:
        """(L,) int64, objects of each class that are to be found."""
        return np.bincount(self.gt_label[~self.gt_ignored], minlength=self.n_fg_class)

    @classmethod
    def of_bboxes(
        cls,
        pred_bboxes,
        pred_labels,
        pred_scores,
        gt_bboxes,
        gt_labels,
        *,
        gt_difficults=None,
        gt_crowdeds=None,
        plus=0,
        n_fg_class=None,
    ):
        """The table of boxes.

        Iterables of one array a photo: pred_bboxes (R, 4), y_min x_min y_max x_max; pred_labels (R,) int;
        pred_scores (R,) float; gt_bboxes (R, 4); gt_labels (R,) int; gt_difficults, gt_crowdeds (R,) bool or None
        plus: 1 if a box holds the pixels of its far borders (VOC), 0 if boxes are continuous
        n_fg_class: how many classes there are; None: up to the highest one seen
        Overlaps with crowds are measured against the detection alone, as COCO does.
        Raises ShapeError, DtypeError or ValueRangeError with the photo's index on input that makes no sense.
        """
        pred, gt, difficult, crowd = _joined(
            pred_bboxes, pred_labels, pred_scores, gt_bboxes, gt_labels, gt_difficults, gt_crowdeds
        )
        pred_bbox, gt_bbox = join_bboxes(pred, "pred_bboxes"), join_bboxes(gt, "gt_bboxes")

        def overlaps(a, b):
            return bbox_overlaps(pred_bbox, gt_bbox, a, b, plus=plus, crowd=crowd)

        return _table(pred, gt, difficult | crowd, overlaps, n_fg_class)

    @classmethod
    def of_masks(
        cls,
        pred_masks,
        pred_labels,
        pred_scores,
        gt_masks,
        gt_labels,
        *,
        gt_difficults=None,
        gt_crowdeds=None,
        n_fg_class=None,
    ):
        """The table of masks, (R, H, W) bool or RLEs a photo; everything else as for `of_bboxes`."""
        pred_masks, gt_masks = (
            [as_rles(mask, f"{name} of photo {photo}") for photo, mask in enumerate(masks)]
            for masks, name in ((pred_masks, "pred_masks"), (gt_masks, "gt_masks"))
        )
        pred, gt, difficult, crowd = _joined(
            pred_masks, pred_labels, pred_scores, gt_masks, gt_labels, gt_difficults, gt_crowdeds
        )
        pred_rle, gt_rle = RLEs.concatenate(pred_masks), RLEs.concatenate(gt_masks)

        def overlaps(a, b):
            iou = rle_iou_pairs(pred_rle, gt_rle, a, b, crowd, at_least=LEAST_OVERLAP)
            if (iou < 0).any():
                raise ShapeError(f"the masks of photo {pred.photo[a[np.argmax(iou < 0)]]} are of different sizes")
            return iou

        return _table(pred, gt, difficult | crowd, overlaps, n_fg_class)

    @classmethod
    def of_points(
        cls,
        pred_points,
        pred_labels,
        pred_scores,
        gt_points,
        gt_visibles,
        gt_bboxes,
        gt_labels,
        gt_areas,
        *,
        gt_crowdeds=None,
        sigmas=OKS_SIGMAS,
        n_fg_class=None,
    ):
        """The table of poses, whose overlap is COCO's similarity of points; see `eval_keypoint_coco` for the arrays.

        sigmas: (P,) float64, one for each point. Objects without a visible point are not to be found.
        """
        pred, gt, _, crowd = _joined(pred_points, pred_labels, pred_scores, gt_points, gt_labels, None, gt_crowdeds)
        sigmas = np.asarray(sigmas, np.float64)
        pred_point, gt_point = _join_points(pred, "pred_points", sigmas), _join_points(gt, "gt_points", sigmas)
        visible = _join_column(gt, gt_visibles, "gt_visibles", (len(sigmas),)) > 0
        area = _join_column(gt, gt_areas, "gt_areas", ())
        y_min, x_min, y_max, x_max = _join_column(gt, gt_bboxes, "gt_bboxes", (4,)).T
        xywh = np.stack((x_min, y_min, x_max - x_min, y_max - y_min), axis=1)

        def overlaps(a, b):
            seen = np.concatenate((gt_point[b, :, ::-1], visible[b, :, None]), axis=2)
            return keypoint_overlaps(pred_point[a, :, ::-1], seen, area[b], xywh[b], sigmas)

        return _table(pred, gt, crowd | ~visible.any(axis=1), overlaps, n_fg_class)


def _join_points(instances, name, sigmas):
    return _join_column(instances, instances.shape, name, (len(sigmas), 2))


def _join_column(instances, arrays, name, shape):
    """(N, *shape) float64 from an array a photo. Raises ShapeError or ValueRangeError that names the photo."""
    arrays = list(arrays)
    lengths = np.diff(instances.offsets)
    if len(arrays) != len(lengths):
        raise ShapeError(f"{name}: an array a photo", expected=len(lengths), got=len(arrays))
    parts = [np.zeros((0, *shape))]
    for photo, (array, n) in enumerate(zip(arrays, lengths)):
        part = np.asarray(array, np.float64)
        if part.size == 0 and n == 0:
            continue
        if part.shape != (n, *shape):
            raise ShapeError(f"{name} of photo {photo}", expected=(int(n), *shape), got=part.shape)
        if not np.isfinite(part).all():
            raise ValueRangeError(f"{name} of photo {photo} hold a NaN or an infinity")
        parts.append(part)
    return np.concatenate(parts)


def _joined(pred_shapes, pred_labels, pred_scores, gt_shapes, gt_labels, difficults, crowdeds):
    columns = {
        "pred_shapes": pred_shapes,
        "pred_labels": pred_labels,
        "pred_scores": pred_scores,
        "gt_shapes": gt_shapes,
        "gt_labels": gt_labels,
    }
    flags = {"gt_difficults": difficults, "gt_crowdeds": crowdeds}
    columns.update({name: each for name, each in flags.items() if each is not None})
    columns = dict(zip(columns, same_length(columns)))
    pred = join_instances(columns["pred_shapes"], columns["pred_labels"], columns["pred_scores"], name="pred")
    gt = join_instances(columns["gt_shapes"], columns["gt_labels"], name="gt")
    joined = (
        join_flags(columns[name], np.diff(gt.offsets), name) if name in columns else np.zeros(len(gt.label), bool)
        for name in flags
    )
    return pred, gt, *joined


def _table(pred, gt, ignored, overlaps, n_fg_class):
    seen = int(max(pred.label.max(initial=-1), gt.label.max(initial=-1))) + 1
    n = seen if n_fg_class is None else n_fg_class
    if seen > n:
        raise ValueRangeError("a class is beyond the last", expected=f"0 .. {n - 1}", got=seen - 1)
    parts = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
    for _, _, a, b in pairs_within_groups(pred.photo, gt.photo):
        iou = overlaps(a, b)
        near = np.flatnonzero(iou >= LEAST_OVERLAP)
        parts.append((a[near], b[near], iou[near]))
    pairs = (np.concatenate(each) for each in zip(*parts))
    return DetectionTable(pred.photo, pred.label, pred.score, gt.photo, gt.label, ignored, *pairs, n)
