"""Boxes of a batch that are ready, wherever they lie."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from cvzoo.backends.detection import unpacked_boxes
from cvzoo.backends.transfer import on_host
from cvzoo.links.model.decoding.found import Found


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
