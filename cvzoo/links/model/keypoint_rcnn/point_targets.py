"""What a head of points should say about regions."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError

IGNORED = -1


def point_targets(point: np.ndarray, visible: np.ndarray, bbox: np.ndarray, size: int) -> np.ndarray:
    """(N, K) int32: the place of each point on the map of its region, row * size + column; -1 where it has none.

    point: (N, K, 2) float32, y x, pixels of the network's input; visible: (N, K) bool
    bbox: (N, 4) float32, the regions
    size: places of a map along a side
    A point that is not visible or lies outside of its region has no place; one on the far edge has the last.
    Raises ShapeError if the arrays do not fit together.
    """
    if point.shape != (*visible.shape, 2) or len(point) != len(bbox):
        raise ShapeError("point_targets: one row of points a region", got=(point.shape, visible.shape, bbox.shape))
    sides = np.maximum(bbox[:, 2:] - bbox[:, :2], 1e-6)[:, None]
    place = np.floor((point - bbox[:, None, :2]) * (size / sides))
    place = np.where(point == bbox[:, None, 2:], size - 1, place)
    inside = ((place >= 0) & (place < size)).all(axis=2) & visible
    place = np.where(inside[..., None], place, 0).astype(np.int32)
    return np.where(inside, place[..., 0] * size + place[..., 1], IGNORED).astype(np.int32)
