"""Boxes grouped by their shape."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.best_anchor_iou import iou_at_offset

# k-means ends where no box changes its group, which need not be the best place: the best of so many is taken
_N_START = 8


def cluster_boxes(side: np.ndarray, n_cluster: int, *, seed: int = 0, n_round: int = 100) -> np.ndarray:
    """The middles of `n_cluster` groups of boxes, small to large: (n_cluster, 2) float32, height and width.

    side: (R, 2) float32, heights and widths, positive
    seed: of the first middles; the same seed gives the same bits
    n_round: at most so often boxes are given to the nearest middle, and middles moved
    Raises ShapeError if side is not (R, 2), ValueRangeError if there are fewer different boxes than groups or a side is
    not positive.

    Source: k-means by 1 - IoU as YOLOv2 has it (Redmon and Farhadi, "YOLO9000", 2017, section 2), started as k-means++
    (Arthur and Vassilvitskii, 2007). A middle is the mean of its boxes' sides.
    """
    side = np.asarray(side, np.float32)
    if side.ndim != 2 or side.shape[1] != 2:
        raise ShapeError("cluster_boxes: sides must be (R, 2)", got=side.shape)
    if not (np.isfinite(side).all() and (side > 0).all()):
        raise ValueRangeError("cluster_boxes: sides must be positive")
    n_shape = len(np.unique(side, axis=0))
    if not 1 <= n_cluster <= n_shape:
        raise ValueRangeError(
            "cluster_boxes: there must be a group, and no more than there are shapes",
            expected=f"1 to {n_shape}",
            got=n_cluster,
        )
    random = np.random.default_rng(seed)
    tries = [_moved(side, _started(side, n_cluster, random), n_round) for _ in range(_N_START)]
    middle = max(tries, key=lambda middle: float(iou_at_offset(side, middle).max(axis=1).sum()))
    return middle[np.argsort(middle.prod(axis=1), kind="stable")]


def _started(side: np.ndarray, n_cluster: int, random: np.random.Generator) -> np.ndarray:
    """Boxes as first middles: each is likelier the farther it is from those before."""
    middle = side[random.integers(len(side))][None]
    while len(middle) < n_cluster:
        far = 1 - iou_at_offset(side, middle).max(axis=1).astype(np.float64)
        far = np.where(far < 1e-6, 0, far) ** 2
        # distances may be rounded to 0 before there are enough middles: then any other shape will do
        far = far if far.any() else (side[:, None] != middle).any(axis=2).all(axis=1).astype(np.float64)
        middle = np.concatenate([middle, side[random.choice(len(side), p=far / far.sum())][None]])
    return middle


def _moved(side: np.ndarray, middle: np.ndarray, n_round: int) -> np.ndarray:
    before = None
    for _ in range(n_round):
        group = iou_at_offset(side, middle).argmax(axis=1)
        if before is not None and np.array_equal(group, before):
            break
        before = group
        count = np.bincount(group, minlength=len(middle))[:, None]
        total = np.stack([np.bincount(group, side[:, i], len(middle)) for i in (0, 1)], axis=1)
        middle = np.where(count > 0, total / np.maximum(count, 1), middle).astype(np.float32)
    return middle
