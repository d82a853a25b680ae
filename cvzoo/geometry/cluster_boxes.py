"""k-means clustering of box shapes."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.best_anchor_iou import iou_at_offset
from cvzoo.typing.aliases import Array

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
