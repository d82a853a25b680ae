"""Base class of the decoding of one-stage detectors."""

import abc
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.backends.detection import frame, unpacked_boxes
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.interface import State
from cvzoo.backends.transfer import on_host
from cvzoo.links.model.preparation.abstract import Placement
from cvzoo.typing.aliases import Array, Size


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
    """Detected boxes of a batch, on the device that computes them.

    results: outputs of a backend's `finish_boxes`, (B', N) float32 of consecutive images each
    again: computes the boxes of one image on the host, if it has more candidates than a GPU's kernels can hold
    """

    results: Sequence[Array]
    again: Callable[[int], Found]

    def on_host(self) -> list[Found]:
        """The boxes of each image, with one copy from a GPU."""
        boxes = [each for result in on_host(self.results) for each in unpacked_boxes(result)]
        return [self.again(i) if each is None else Found(*each) for i, each in enumerate(boxes)]


def scale_to(size: Sequence[int], resized: Sequence[int]) -> tuple[float, float]:
    """size / resized in float32, (vertical, horizontal): the factors from the resized image to the original."""
    y, x = (float(np.float32(n) / np.float32(m)) for n, m in zip(size, resized))
    return y, x


def only_found(result: np.ndarray) -> Found:
    """The boxes of one image from the output of a CPU backend's `finish_boxes`."""
    (boxes,) = unpacked_boxes(result)
    assert boxes is not None  # only GPU kernels have a limit
    return Found(*boxes)


class AbstractDecoding(abc.ABC):
    """Base class of the decoding of outputs, immutable and hashable; a subclass implements how boxes are decoded.

    clip: whether boxes are clipped to the image before NMS
    """

    clip: bool = False

    @abc.abstractmethod
    def candidates(self, outputs: Sequence[Array], input_size: Size, frames: Array, score_thresh: float) -> State:
        """The boxes with scores above `score_thresh`, for `nms` of the backend of the outputs' device.

        outputs: of the network, float32, each with B as its first axis
        input_size: (H, W) of the network's input
        frames: (B, 11) float32 on that device, the results of `frame`
        """

    def decode(
        self, outputs: Sequence[np.ndarray], size: tuple[int, int], placement: Placement, score_thresh: float
    ) -> Found:
        """The boxes of one image of `size` (H, W) with scores above `score_thresh`, in its pixels, before NMS.

        outputs: of the network for the image, on the host, without the axis B
        placement: of the image in the network's input
        """
        frames = self.frame(size, placement)[None]
        boxes = self.candidates([y[None] for y in outputs], placement.input_size, frames, score_thresh)
        return Found(*backend_of(outputs[0]).candidate_boxes(boxes)[0])

    def frame(self, size: tuple[int, int], placement: Placement) -> np.ndarray:
        """(11,) float32, the transform of boxes from the network's input to an image of `size` (H, W)."""
        seen = placement.resized
        return frame(size, cut=seen if self.clip else None, factor=scale_to(size, seen))
