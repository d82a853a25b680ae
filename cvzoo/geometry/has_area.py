"""Whether boxes have an area."""

import numpy as np


def has_area(bbox: np.ndarray) -> np.ndarray:
    """(R,) bool: the box ends behind its start in both directions; NaN does not.

    bbox: (R, 4), y_min x_min y_max x_max
    """
    return (bbox[:, 2:] > bbox[:, :2]).all(axis=1)
