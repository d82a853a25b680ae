"""Pascal VOC's colours."""

from collections.abc import Iterable

import numpy as np

from cvzoo.labels.class_colors import voc_color


def voc_colormap(labels: Iterable[int]) -> np.ndarray:
    """The colours that Pascal VOC gives to class numbers: (N, 3) float32, RGB in [0, 255]; 0 is black.

    labels: N non-negative integers; from 256 on the colours come again
    Source: the development kit of the challenge, and ChainerCV's function of this name.
    """
    return np.array([voc_color(int(label)) for label in labels], np.float32).reshape(-1, 3)
