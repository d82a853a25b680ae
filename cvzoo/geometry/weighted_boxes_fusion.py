"""Weighted boxes fusion: merges the boxes that several models, or several views of an image, predict."""

from typing import NamedTuple

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.bbox_iou import bbox_iou
from cvzoo.typing.aliases import Array, ArrayLike, BBox, Label, Score


class FusedBoxes(NamedTuple):
    """Boxes after fusion, highest score first.

    bbox: (R', 4) float32; label: (R',) int32; score: (R',) float32
    best: (R',) int, the index of the highest-scoring box of each cluster among the boxes before fusion
    """

    bbox: BBox
    label: Label
    score: Score
    best: Array


def weighted_boxes_fusion(
    bbox: ArrayLike, label: ArrayLike, score: ArrayLike, *, n_view: int, iou_thresh: float = 0.55
) -> FusedBoxes:
    """Clusters boxes of one class, and averages the coordinates of each cluster, weighted by score.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels, of all models or views together
    label: (R,) int; score: (R,) float in [0, 1]
    n_view: number of models or views. A cluster's score is the sum of its scores over n_view, so that a box that only
        one of them predicts loses confidence; it is their mean where the cluster has more than n_view boxes
    iou_thresh: a box joins the cluster of its class whose fused box has the highest IoU above this
    Raises ShapeError if the lengths differ, ValueRangeError for NaN, negative scores, or n_view < 1.

    Source: Solovyev, Wang and Gabruseva, Weighted Boxes Fusion: Ensembling Boxes from Different Object Detection
    Models, Image and Vision Computing 107, 2021, section 3.
    """
    bbox = as_bbox(bbox).astype(np.float32, copy=False)
    label, score = np.asarray(label), np.asarray(score, np.float32)
    if not label.shape == score.shape == (len(bbox),):
        raise ShapeError(
            "label and score must have one value per box", expected=(len(bbox),), got=(label.shape, score.shape)
        )
    if not np.isfinite(bbox).all() or not (score >= 0).all():
        raise ValueRangeError("weighted boxes fusion needs finite boxes and scores that are not negative")
    if n_view < 1:
        raise ValueRangeError("n_view must be positive", got=n_view)
    clusters: list[list[int]] = []
    fused = np.zeros((len(bbox), 4), np.float32)  # of each cluster so far
    labels = np.zeros(len(bbox), label.dtype)
    for i in np.argsort(-score, kind="stable").tolist():
        n = len(clusters)
        iou = np.where(labels[:n] == label[i], bbox_iou(bbox[i : i + 1], fused[:n])[0], -1)
        k = int(iou.argmax()) if n else 0
        if n and iou[k] > iou_thresh:
            clusters[k].append(i)
            fused[k] = _weighted_mean(bbox[clusters[k]], score[clusters[k]])
        else:
            clusters.append([i])
            fused[n], labels[n] = bbox[i], label[i]
    sums = np.array([score[each].sum(dtype=np.float64) / max(n_view, len(each)) for each in clusters])
    order = np.argsort(-sums, kind="stable")
    best = np.array([each[0] for each in clusters], np.int64)
    return FusedBoxes(
        fused[: len(clusters)][order], labels[: len(clusters)][order].astype(np.int32),
        sums[order].astype(np.float32), best[order],
    )  # fmt: skip


def _weighted_mean(bbox: BBox, score: Score) -> Array:
    total = score.sum(dtype=np.float64)
    return (bbox * score[:, None]).sum(axis=0, dtype=np.float64) / total if total > 0 else bbox.mean(axis=0)
