"""Which boxes have an area."""

import numpy as np

from cvzoo.typing.aliases import Array


def has_area(bbox: np.ndarray) -> Array:
    """(R,) bool, whether each box has a positive height and width; false for NaN.

    bbox: (R, 4), y_min x_min y_max x_max
    """
    return np.all(bbox[:, 2:] > bbox[:, :2], axis=1)
