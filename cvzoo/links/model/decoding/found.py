"""What a detector finds in an image."""

from typing import NamedTuple

import numpy as np


class Found(NamedTuple):
    """Boxes of one image.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels of the image
    label: (R,) int32
    score: (R,) float32
    """

    bbox: np.ndarray
    label: np.ndarray
    score: np.ndarray
