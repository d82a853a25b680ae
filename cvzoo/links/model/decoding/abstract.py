"""Base class of the decoding of one-stage detectors."""

import abc
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.backends.detection import frame, unpacked_boxes
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.transfer import on_host
from cvzoo.links.model.preparation.abstract import Placement


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


def scale_to(size: Sequence[int], resized: Sequence[int]) -> tuple[float, float]:
    """size / resized in float32: pixels of the image per pixel of the resized one, (vertical, horizontal)."""
    y, x = (float(np.float32(n) / np.float32(m)) for n, m in zip(size, resized))
    return y, x


def only_found(result: np.ndarray) -> Found:
    """The boxes of one image, of what `finish_boxes` of a CPU backend returned for it."""
    (boxes,) = unpacked_boxes(result)
    assert boxes is not None  # only kernels of GPUs bound how many boxes they look at
    return Found(*boxes)


class AbstractDecoding(abc.ABC):
    """Base class of the decoding of outputs, frozen and hashable; a subclass implements how boxes are decoded.

    clip: whether boxes are cut at the edges of the image before NMS
    """

    clip: bool = False

    @abc.abstractmethod
    def candidates(self, outputs: Sequence[Any], input_size: tuple[int, int], frames: Any, score_thresh: float) -> Any:
        """The boxes that score above `score_thresh`, for `nms` of the backend on whose device the outputs lie.

        outputs: what the network gave, float32, each with B as its first axis
        input_size: (H, W) of the network's input
        frames: (B, 11) float32 on that device, what `frame` gives of each image
        """

    def decode(
        self, outputs: Sequence[np.ndarray], size: tuple[int, int], placement: Placement, score_thresh: float
    ) -> Found:
        """The boxes of one image of `size` (H, W) that score above `score_thresh`, in its pixels, before suppression.

        outputs: what the network gave for the image, on the host, without the axis B
        placement: where in the network's input the image lies
        """
        frames = self.frame(size, placement)[None]
        found = self.candidates([y[None] for y in outputs], placement.input_size, frames, score_thresh)
        return Found(*backend_of(outputs[0]).found_boxes(found)[0])

    def frame(self, size: tuple[int, int], placement: Placement) -> np.ndarray:
        """(11,) float32, how boxes in the network's input become those of an image of `size` (H, W)."""
        seen = placement.resized
        return frame(size, cut=seen if self.clip else None, factor=scale_to(size, seen))
