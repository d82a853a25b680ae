"""What a detector finds in an image, and in a batch, wherever it lies."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.backends.detection import unpacked_boxes
from cvzoo.backends.transfer import on_host


class Found(NamedTuple):
    """Boxes of one image.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels of the image
    label: (R,) int32
    score: (R,) float32
    """

    bbox: np.ndarray
    label: np.ndarray
    score: np.ndarray


class FinishedBoxes(NamedTuple):
    """Boxes of a batch on the device that computes them.

    results: what `finish_boxes` of a backend gave, (B', N) float32 of neighbouring images each
    again: the boxes of one image computed on the host: asked for where more scored than a GPU's kernels look at
    """

    results: Sequence[Any]
    again: Callable[[int], Found]

    def on_host(self) -> list[Found]:
        """The boxes of each image, by one copy from a GPU."""
        found = [each for result in on_host(self.results) for each in unpacked_boxes(result)]
        return [self.again(i) if each is None else Found(*each) for i, each in enumerate(found)]
