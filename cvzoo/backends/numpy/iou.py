"""Intersection over union of boxes."""

import numpy as np


def box_area(bbox: np.ndarray) -> np.ndarray:
    """(R,): height times width of bbox (R, 4); 0 for what is empty or inverted."""
    return np.maximum(bbox[:, 2] - bbox[:, 0], 0) * np.maximum(bbox[:, 3] - bbox[:, 1], 0)


def box_intersection(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(N, K): the area that each of a (N, 4) shares with each of b (K, 4)."""
    height, width = (
        np.minimum(a[:, None, axis + 2], b[:, axis + 2]) - np.maximum(a[:, None, axis], b[:, axis]) for axis in (0, 1)
    )
    return np.maximum(height, 0) * np.maximum(width, 0)


def box_iou(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(N, K): inter / ((area_a + area_b) - inter), in this order; 0 where both are empty."""
    inter = box_intersection(a, b)
    union = box_area(a)[:, None] + box_area(b) - inter
    return np.divide(inter, union, out=np.zeros_like(inter), where=union > 0)
