"""Detections, objects and their IoU on all images, as columns: the input of all analyses."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.evaluations.coco.keypoint_overlaps import keypoint_overlaps
from cvzoo.evaluations.coco.parameters import OKS_SIGMAS
from cvzoo.evaluations.instances import Instances, join_bboxes, join_flags, join_instances, same_length
from cvzoo.evaluations.pairs import bbox_overlaps, pairs_within_groups
from cvzoo.evaluations.voc.matches import as_rles
from cvzoo.geometry.rle import RLEs
from cvzoo.geometry.rle_iou import rle_iou_pairs
from cvzoo.typing.aliases import Array, ArrayLike

# Pairs of a smaller IoU are not used by any analysis
LEAST_OVERLAP = 0.1


@dataclasses.dataclass(frozen=True, eq=False)
class DetectionTable:
    """D detections and G objects, and the P pairs of the same image with an IoU of at least LEAST_OVERLAP.

    pred_photo, pred_label: (D,) int64; pred_score: (D,) float64
    gt_photo, gt_label: (G,) int64; gt_ignored: (G,) bool, difficult objects and crowds: they are neither to be found,
        nor is it wrong to find them
    pair_pred, pair_gt: (P,) int64, rows of the above; pair_iou: (P,) float64
    n_fg_class: number of classes
    """

    pred_photo: Array
    pred_label: Array
    pred_score: Array
    gt_photo: Array
    gt_label: Array
    gt_ignored: Array
    pair_pred: Array
    pair_gt: Array
    pair_iou: Array
    n_fg_class: int

    @property
    def n_positive(self) -> Array:
        """(L,) int64, the number of positives of each class."""
        return np.bincount(self.gt_label[~self.gt_ignored], minlength=self.n_fg_class)

    @classmethod
    def of_bboxes(
        cls,
        pred_bboxes: Iterable[ArrayLike],
        pred_labels: Iterable[ArrayLike],
        pred_scores: Iterable[ArrayLike],
        gt_bboxes: Iterable[ArrayLike],
        gt_labels: Iterable[ArrayLike],
        *,
        gt_difficults: Iterable[ArrayLike] | None = None,
        gt_crowdeds: Iterable[ArrayLike] | None = None,
        plus: int = 0,
        n_fg_class: int | None = None,
    ) -> "DetectionTable":
        """The table of boxes.

        Iterables of one array a photo: pred_bboxes (R, 4), y_min x_min y_max x_max; pred_labels (R,) int;
        pred_scores (R,) float; gt_bboxes (R, 4); gt_labels (R,) int; gt_difficults, gt_crowdeds (R,) bool or None
        plus: 1 if a box holds the pixels of its far borders (VOC), 0 if boxes are continuous
        n_fg_class: number of classes; None: up to the highest label
        Overlaps with crowds are measured against the detection alone, as COCO does.
        Raises ShapeError, DtypeError or ValueRangeError with the image's index for malformed input.
        """
        pred, gt, difficult, crowd = _joined(
            pred_bboxes, pred_labels, pred_scores, gt_bboxes, gt_labels, gt_difficults, gt_crowdeds
        )
        pred_bbox, gt_bbox = join_bboxes(pred, "pred_bboxes"), join_bboxes(gt, "gt_bboxes")

        def overlaps(a: Array, b: Array) -> Array:
            return bbox_overlaps(pred_bbox, gt_bbox, a, b, plus=plus, crowd=crowd)

        return _table(pred, gt, difficult | crowd, overlaps, n_fg_class)

    @classmethod
    def of_masks(
        cls,
        pred_masks: Iterable[ArrayLike | RLEs],
        pred_labels: Iterable[ArrayLike],
        pred_scores: Iterable[ArrayLike],
        gt_masks: Iterable[ArrayLike | RLEs],
        gt_labels: Iterable[ArrayLike],
        *,
        gt_difficults: Iterable[ArrayLike] | None = None,
        gt_crowdeds: Iterable[ArrayLike] | None = None,
        n_fg_class: int | None = None,
    ) -> "DetectionTable":
        """The table of masks, (R, H, W) bool or RLEs per image; everything else as for `of_bboxes`."""
        pred_masks, gt_masks = (
            [as_rles(mask, f"{name} of image {image}") for image, mask in enumerate(masks)]
            for masks, name in ((pred_masks, "pred_masks"), (gt_masks, "gt_masks"))
        )
        pred, gt, difficult, crowd = _joined(
            pred_masks, pred_labels, pred_scores, gt_masks, gt_labels, gt_difficults, gt_crowdeds
        )
        pred_rle, gt_rle = RLEs.concatenate(pred_masks), RLEs.concatenate(gt_masks)

        def overlaps(a: Array, b: Array) -> Array:
            iou = rle_iou_pairs(pred_rle, gt_rle, a, b, crowd, at_least=LEAST_OVERLAP)
            if (iou < 0).any():
                raise ShapeError(f"the masks of image {pred.image[a[np.argmax(iou < 0)]]} are of different sizes")
            return iou

        return _table(pred, gt, difficult | crowd, overlaps, n_fg_class)

    @classmethod
    def of_points(
        cls,
        pred_points: Iterable[ArrayLike],
        pred_labels: Iterable[ArrayLike],
        pred_scores: Iterable[ArrayLike],
        gt_points: Iterable[ArrayLike],
        gt_visibles: Iterable[ArrayLike],
        gt_bboxes: Iterable[ArrayLike],
        gt_labels: Iterable[ArrayLike],
        gt_areas: Iterable[ArrayLike],
        *,
        gt_crowdeds: Iterable[ArrayLike] | None = None,
        sigmas: ArrayLike = OKS_SIGMAS,
        n_fg_class: int | None = None,
    ) -> "DetectionTable":
        """The table of keypoints, with COCO's object keypoint similarity as IoU; arrays as for `eval_keypoint_coco`.

        sigmas: (P,) float64, one per keypoint. Objects without a visible keypoint are ignored.
        """
        pred, gt, _, crowd = _joined(pred_points, pred_labels, pred_scores, gt_points, gt_labels, None, gt_crowdeds)
        sigmas = np.asarray(sigmas, np.float64)
        pred_point, gt_point = _join_points(pred, "pred_points", sigmas), _join_points(gt, "gt_points", sigmas)
        visible = _join_column(gt, gt_visibles, "gt_visibles", (len(sigmas),)) > 0
        area = _join_column(gt, gt_areas, "gt_areas", ())
        y_min, x_min, y_max, x_max = _join_column(gt, gt_bboxes, "gt_bboxes", (4,)).T
        xywh = np.stack((x_min, y_min, x_max - x_min, y_max - y_min), axis=1)

        def overlaps(a: Array, b: Array) -> Array:
            seen = np.concatenate((gt_point[b, :, ::-1], visible[b, :, None]), axis=2)
            return keypoint_overlaps(pred_point[a, :, ::-1], seen, area[b], xywh[b], sigmas)

        return _table(pred, gt, crowd | ~visible.any(axis=1), overlaps, n_fg_class)


def _join_points(instances: Instances, name: str, sigmas: Array) -> Array:
    return _join_column(instances, instances.shape, name, (len(sigmas), 2))


def _join_column(instances: Instances, arrays: Iterable[ArrayLike | RLEs], name: str, shape: Sequence[int]) -> Array:
    """(N, *shape) float64 from one array per image. Raises ShapeError or ValueRangeError that names the image."""
    arrays = list(arrays)
    lengths = np.diff(instances.offsets)
    if len(arrays) != len(lengths):
        raise ShapeError(f"{name} must have one array per image", expected=len(lengths), got=len(arrays))
    parts = [np.zeros((0, *shape))]
    for image, (array, n) in enumerate(zip(arrays, lengths)):
        part = np.asarray(array, np.float64)
        if part.size == 0 and n == 0:
            continue
        if part.shape != (n, *shape):
            raise ShapeError(f"{name} of image {image} has the wrong shape", expected=(int(n), *shape), got=part.shape)
        if not np.isfinite(part).all():
            raise ValueRangeError(f"{name} of image {image} must be finite")
        parts.append(part)
    return np.concatenate(parts)


def _joined(
    pred_shapes: Iterable[ArrayLike | RLEs],
    pred_labels: Iterable[ArrayLike],
    pred_scores: Iterable[ArrayLike],
    gt_shapes: Iterable[ArrayLike | RLEs],
    gt_labels: Iterable[ArrayLike],
    difficults: Iterable[ArrayLike] | None,
    crowdeds: Iterable[ArrayLike] | None,
) -> tuple[Instances, Instances, Array, Array]:
    given: dict[str, Iterable[ArrayLike | RLEs]] = {
        "pred_shapes": pred_shapes,
        "pred_labels": pred_labels,
        "pred_scores": pred_scores,
        "gt_shapes": gt_shapes,
        "gt_labels": gt_labels,
    }
    flags = {"gt_difficults": difficults, "gt_crowdeds": crowdeds}
    given.update({name: each for name, each in flags.items() if each is not None})
    columns = dict(zip(given, same_length(given)))
    pred = join_instances(columns["pred_shapes"], columns["pred_labels"], columns["pred_scores"], name="pred")
    gt = join_instances(columns["gt_shapes"], columns["gt_labels"], name="gt")
    difficult, crowd = (
        join_flags(columns[name], np.diff(gt.offsets), name) if name in columns else np.zeros(len(gt.label), bool)
        for name in flags
    )
    return pred, gt, difficult, crowd


def _table(
    pred: Instances, gt: Instances, ignored: Array, overlaps: Callable[[Array, Array], Array], n_fg_class: int | None
) -> DetectionTable:
    seen = int(max(pred.label.max(initial=-1), gt.label.max(initial=-1))) + 1
    n = seen if n_fg_class is None else n_fg_class
    if seen > n:
        raise ValueRangeError("a label is out of range", expected=f"0 .. {n - 1}", got=seen - 1)
    parts = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
    for _, _, a, b in pairs_within_groups(pred.image, gt.image):
        iou = overlaps(a, b)
        near = np.flatnonzero(iou >= LEAST_OVERLAP)
        parts.append((a[near], b[near], iou[near]))
    pair_pred, pair_gt, pair_iou = (np.concatenate(each) for each in zip(*parts))
    return DetectionTable(
        pred.image, pred.label, pred.score, gt.image, gt.label, ignored, pair_pred, pair_gt, pair_iou, n
    )
