"""COCO's evaluation of keypoint detection, from arrays."""

from collections.abc import Iterable

import numpy as np

from cvzoo.evaluations.coco.accumulator import AbstractCOCOAccumulator
from cvzoo.evaluations.coco.detections import COCODetections
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.evaluations.coco.image_columns import (
    areas_of,
    batches_of_images,
    boxes_of,
    check_same_images,
    concatenated,
    labels_of,
    refuse_image,
    rounded_xywh,
    same_lengths,
    scores_of,
)
from cvzoo.evaluations.coco.parameters import COCOParameters, IoUType
from cvzoo.typing.aliases import Array, ArrayLike

_NAMES = (
    "pred_points",
    "pred_labels",
    "pred_scores",
    "gt_points",
    "gt_visibles",
    "gt_bboxes",
    "gt_labels",
    "gt_areas",
    "gt_crowdeds",
)


def eval_keypoint_coco(
    pred_points: Iterable[ArrayLike],
    pred_labels: Iterable[ArrayLike],
    pred_scores: Iterable[ArrayLike],
    gt_points: Iterable[ArrayLike],
    gt_visibles: Iterable[ArrayLike],
    gt_bboxes: Iterable[ArrayLike],
    gt_labels: Iterable[ArrayLike],
    gt_areas: Iterable[ArrayLike],
    gt_crowdeds: Iterable[ArrayLike] | None = None,
    *,
    parameters: COCOParameters | None = None,
    decimals: int | None = 2,
) -> dict:
    """COCO's average precisions and recalls of keypoints (poses), as pycocotools computes them.

    pred_points, gt_points: iterables of (R, P, 2) float32, y x, pixels; one array per image
    gt_visibles: an iterable of (R, P) bool; objects without a visible keypoint are ignored
    gt_bboxes: an iterable of (R, 4) float32, y_min x_min y_max x_max
    pred_labels, gt_labels: iterables of (R,) int32
    pred_scores: an iterable of (R,) float32
    gt_areas: an iterable of (R,) float32, square pixels: the scale of the object
    gt_crowdeds: None, or an iterable of (R,) bool; None: no crowd regions
    parameters: of "keypoints"; None: the defaults, with COCO's 17 keypoints
    decimals: number of decimals to which gt_bboxes are rounded, as in `eval_detection_coco`
    Returns a dictionary as `eval_detection_coco` does, with max_dets=20 and no small objects.
    Raises ShapeError or ValueRangeError that names the image.
    """
    accumulator = KeypointCOCOAccumulator(parameters=parameters, decimals=decimals)
    columns = (
        pred_points, pred_labels, pred_scores, gt_points, gt_visibles, gt_bboxes, gt_labels, gt_areas, gt_crowdeds,
    )  # fmt: skip
    for block in batches_of_images(columns, _NAMES):
        accumulator.update(*block)
    return accumulator.compute()


class KeypointCOCOAccumulator(AbstractCOCOAccumulator):
    """Streaming `eval_keypoint_coco`, a few images at a time, with the same arrays and keys."""

    iou_type: IoUType = "keypoints"  # pyright: ignore[reportIncompatibleMethodOverride]  # the abstract property

    def __init__(self, *, parameters: COCOParameters | None = None, decimals: int | None = 2) -> None:
        super().__init__(parameters)
        self.decimals = decimals

    def update(
        self,
        pred_points: Iterable[ArrayLike],
        pred_labels: Iterable[ArrayLike],
        pred_scores: Iterable[ArrayLike],
        gt_points: Iterable[ArrayLike],
        gt_visibles: Iterable[ArrayLike],
        gt_bboxes: Iterable[ArrayLike],
        gt_labels: Iterable[ArrayLike],
        gt_areas: Iterable[ArrayLike],
        gt_crowdeds: Iterable[ArrayLike] | None = None,
        *,
        img_ids: ArrayLike | None = None,
    ) -> None:
        """Adds images, by lists of one array per image. img_ids: ids of the images; None: numbered from 1 in order."""
        first, n_point = self._n_photos, self.parameters.kpt_oks_sigmas.size
        points, n_found = _points_of(pred_points, "pred_points", n_point, first)
        label, n_label = labels_of(pred_labels, "pred_labels", first)
        score, n_score = scores_of(pred_scores, "pred_scores", first)
        objects, n_objects = _points_of(gt_points, "gt_points", n_point, first)
        lengths = {}
        visible, lengths["gt_visibles"] = concatenated(gt_visibles, "gt_visibles", (n_point,), first, bool)
        bbox, lengths["gt_bboxes"] = boxes_of(gt_bboxes, "gt_bboxes", first)
        gt_label, lengths["gt_labels"] = labels_of(gt_labels, "gt_labels", first)
        area, lengths["gt_areas"] = areas_of(gt_areas, "gt_areas", first)
        crowd = np.zeros(len(objects), bool)
        if gt_crowdeds is not None:
            crowd, lengths["gt_crowdeds"] = concatenated(gt_crowdeds, "gt_crowdeds", (), first, bool)
        same_lengths("pred_points", n_found, {"pred_labels": n_label, "pred_scores": n_score}, first)
        same_lengths("gt_points", n_objects, lengths, first)
        check_same_images(n_found, n_objects)
        ids = self._next_ids(len(n_objects), img_ids)
        gt = COCOGroundTruth(
            img_ids=ids,
            cat_ids=np.unique(np.concatenate((label, gt_label))),
            image_id=np.repeat(ids, n_objects),
            category_id=gt_label,
            bbox=rounded_xywh(bbox, self.decimals),
            area=area,
            crowd=crowd,
            keypoints=_as_coco(objects, visible),
            num_keypoints=visible.sum(axis=1),
        )
        shown = np.ones(points.shape[:2], bool)
        dt = COCODetections(
            image_id=np.repeat(ids, n_found), category_id=label, score=score, keypoints=_as_coco(points, shown)
        )
        self._add(gt, dt)


def _points_of(parts: Iterable[ArrayLike], name: str, n_point: int, first: int) -> tuple[Array, Array]:
    points, length = concatenated(parts, name, (n_point, 2), first)
    refuse_image(name, points, length, ~np.isfinite(points), "finite", first)
    return points, length


def _as_coco(points: Array, visible: Array) -> Array:
    """(R, P, 3) float64, x y v."""
    return np.concatenate((points[:, :, ::-1], 2.0 * visible[:, :, None]), axis=2)
