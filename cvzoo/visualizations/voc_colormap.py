"""Pascal VOC's colors."""

from collections.abc import Iterable

import numpy as np

from cvzoo.labels.class_colors import voc_color
from cvzoo.typing.aliases import Array


def voc_colormap(labels: Iterable[int]) -> Array:
    """Pascal VOC's colors of class indices: (N, 3) float32, RGB in [0, 255]; 0 is black.

    labels: N non-negative integers; colors repeat from 256 on
    Source: the development kit of the challenge, and ChainerCV's function of this name.
    """
    return np.array([voc_color(int(label)) for label in labels], np.float32).reshape(-1, 3)
