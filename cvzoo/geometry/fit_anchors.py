"""Anchors that fit boxes: how well they do, clusters of sizes, and the best of them."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.anchors import cell_anchors
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.typing.aliases import Array, BBox


def best_anchor_iou(
    bbox: Array, sizes: Sequence[Sequence[float]], ratios: Sequence[float], strides: Sequence[float]
) -> Array:
    """The highest IoU of each box with any anchor of a feature pyramid: (R,) float32 in [0, 1].

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels of the network's input
    sizes: for each level the square roots of the anchors' areas; ratios: heights over widths, the same for all levels
    strides: pixels between neighboring positions of each level, the first of which is at (0, 0)
    Raises ShapeError unless each level has sizes and a stride.

    Of anchors of one shape, the one nearest to the box's center fits best: one comparison per box, level and shape.
    The border of the image, outside of which there are no anchors, is ignored.
    """
    bbox = as_bbox(bbox)
    if len(sizes) != len(strides):
        raise ShapeError("best_anchor_iou: each level needs sizes and a stride", got=(len(sizes), len(strides)))
    side = np.maximum(bbox[:, 2:] - bbox[:, :2], 0)
    best = np.zeros(len(bbox), bbox.dtype)
    for level_sizes, stride in zip(sizes, strides):
        cell = cell_anchors(level_sizes, ratios)
        offset = np.abs((bbox[:, :2] + side / 2 + stride / 2) % stride - stride / 2)
        np.maximum(best, iou_at_offset(side, cell[:, 2:] - cell[:, :2], offset).max(axis=1), out=best)
    return best


def iou_at_offset(side_a: Array, side_b: Array, offset: Array | float = 0.0) -> Array:
    """IoU of all pairs of boxes given by their sides and the distance of their centers: (N, K).

    side_a: (N, 2) height and width; side_b: (K, 2) likewise
    offset: (N, 2) distance between the centers, vertical and horizontal, or one value for all
    """
    a, b = side_a[:, None], side_b[None]
    apart = np.broadcast_to(np.asarray(offset, side_a.dtype), side_a.shape)[:, None]
    shared = np.clip((a + b) / 2 - apart, 0, np.minimum(a, b)).prod(axis=2)
    union = a.prod(axis=2) + b.prod(axis=2) - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)


# k-means converges to a local optimum: the best of this many random initializations is returned
_N_START = 8


def cluster_boxes(side: Array, n_cluster: int, *, seed: int = 0, n_round: int = 100) -> Array:
    """The centers of `n_cluster` clusters of box shapes, small to large: (n_cluster, 2) float32, height and width.

    side: (R, 2) float32, heights and widths, positive
    seed: of the initial centers; the same seed gives the same bits
    n_round: maximum number of k-means iterations
    Raises ShapeError if side is not (R, 2), ValueRangeError if there are fewer distinct shapes than clusters or a side
    is not positive.

    Source: k-means with distance 1 - IoU as in YOLOv2 (Redmon and Farhadi, "YOLO9000", 2017, section 2), initialized
    by k-means++ (Arthur and Vassilvitskii, 2007). A center is the mean of the sides of its boxes.
    """
    side = np.asarray(side, np.float32)
    if side.ndim != 2 or side.shape[1] != 2:
        raise ShapeError("cluster_boxes: sides must be (R, 2)", got=side.shape)
    if not (np.isfinite(side).all() and (side > 0).all()):
        raise ValueRangeError("cluster_boxes: sides must be positive")
    n_shape = len(np.unique(side, axis=0))
    if not 1 <= n_cluster <= n_shape:
        raise ValueRangeError(
            "cluster_boxes: n_cluster must be positive and at most the number of distinct shapes",
            expected=f"1 to {n_shape}",
            got=n_cluster,
        )
    random = np.random.default_rng(seed)
    tries = [_iterated(side, _initial_centers(side, n_cluster, random), n_round) for _ in range(_N_START)]
    center = max(tries, key=lambda center: float(iou_at_offset(side, center).max(axis=1).sum()))
    return center[np.argsort(center.prod(axis=1), kind="stable")]


def _initial_centers(side: Array, n_cluster: int, random: np.random.Generator) -> Array:
    """k-means++: boxes as initial centers, drawn with a probability that grows with the distance to those before."""
    center = side[random.integers(len(side))][None]
    while len(center) < n_cluster:
        far = 1 - iou_at_offset(side, center).max(axis=1).astype(np.float64)
        far = np.where(far < 1e-6, 0, far) ** 2
        # distances may round to 0 before there are enough centers: then any other shape will do
        far = far if far.any() else (side[:, None] != center).any(axis=2).all(axis=1).astype(np.float64)
        center = np.concatenate([center, side[random.choice(len(side), p=far / far.sum())][None]])
    return center


def _iterated(side: Array, center: Array, n_round: int) -> Array:
    """The centers after at most n_round iterations of assignment and update."""
    before = None
    for _ in range(n_round):
        cluster = iou_at_offset(side, center).argmax(axis=1)
        if before is not None and np.array_equal(cluster, before):
            break
        before = cluster
        count = np.bincount(cluster, minlength=len(center))[:, None]
        total = np.stack([np.bincount(cluster, side[:, i], len(center)) for i in (0, 1)], axis=1)
        # an empty cluster keeps its center
        center = np.where(count > 0, total / np.maximum(count, 1), center).astype(np.float32)
    return center


# Step factors of the coordinate search, coarse ones first
_STEPS = (1.6, 1.3, 1.15, 1.07, 1.03)
# A random sample of this many boxes gives the same anchors
_ENOUGH = 3000


class AnchorFit(NamedTuple):
    """Fitted anchors. sizes: square roots of the areas by level, pixels; ratios: heights over widths, ascending."""

    sizes: tuple[tuple[float, ...], ...]
    ratios: tuple[float, ...]


def fit_anchors(
    bbox: Array,
    strides: Sequence[float],
    *,
    n_size: int = 3,
    n_ratio: int = 3,
    thresh: float = 0.5,
    seed: int = 0,
) -> AnchorFit:
    """Anchor sizes and ratios of a feature pyramid, chosen so that most boxes have an anchor with IoU >= thresh.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels of the network's input
    strides: of the levels, the finest first
    n_size, n_ratio: number of sizes per level and of ratios per size
    seed: of the random subset that is used where there are more than 3000 boxes
    Sizes have RetinaNet's form: a smallest one, times 2 ** (k / n_size) within a level, times the ratio of the strides
    from level to level. The free parameters, that size and the ratios, are found by coordinate search; the objective
    is the recall at `thresh` plus a fifth of the mean IoU.
    Raises ValueRangeError if no box has an area, or a count is not positive.
    """
    bbox = as_bbox(bbox).astype(np.float32, copy=False)
    side = bbox[:, 2:] - bbox[:, :2]
    bbox = bbox[(side > 0).all(axis=1) & np.isfinite(bbox).all(axis=1)]
    if not len(bbox) or min(n_size, n_ratio) < 1:
        raise ValueRangeError(
            "fit_anchors needs boxes with an area, and positive n_size and n_ratio", got=(len(bbox), n_size, n_ratio)
        )
    if len(bbox) > _ENOUGH:
        bbox = bbox[np.random.default_rng(seed).choice(len(bbox), _ENOUGH, replace=False)]
    side = bbox[:, 2:] - bbox[:, :2]
    shape = np.sort(np.log(side[:, 0] / side[:, 1]))
    quantiles = np.quantile(shape, (np.arange(n_ratio) + 0.5) / n_ratio)
    smallest = float(np.sqrt(side.prod(axis=1)).min())
    starts = [float(strides[0]) * factor for factor in (1.5, 2.5, 4.0)] + [max(smallest, 2.0)]
    fits = [_climbed(bbox, [math.log(start), *quantiles], strides, n_size, thresh) for start in starts]
    best = max(fits, key=lambda fit: fit[0])[1]
    return _unpacked(best, strides, n_size)


def _unpacked(values: Sequence[float], strides: Sequence[float], n_size: int) -> AnchorFit:
    smallest, *shapes = values
    sizes = tuple(
        tuple(round(math.exp(smallest) * stride / strides[0] * 2 ** (k / n_size), 2) for k in range(n_size))
        for stride in strides
    )
    return AnchorFit(sizes, tuple(sorted(float(f"{math.exp(shape):.3g}") for shape in shapes)))


def _climbed(
    bbox: BBox, values: Sequence[float], strides: Sequence[float], n_size: int, thresh: float
) -> tuple[float, list[float]]:
    """(score, values) of the coordinate search: each logarithm is changed as long as the score improves."""

    def score(values: Sequence[float]) -> float:
        fit = _unpacked(values, strides, n_size)
        iou = best_anchor_iou(bbox, fit.sizes, fit.ratios, strides)
        return float((iou >= thresh).mean()) + 0.2 * float(iou.mean())

    values, best = list(values), score(values)
    for step in _STEPS:
        moved = True
        while moved:
            moved = False
            for i in range(len(values)):
                for sign in (1, -1):
                    tried = list(values)
                    tried[i] += sign * math.log(step)
                    now = score(tried)
                    if now > best + 1e-6:
                        values, best, moved = tried, now, True
    return best, values
