"""Decoding of the grid cells of YOLO."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from cvzoo.backends.detection import CellHead, frame
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.interface import State
from cvzoo.errors.exceptions import ShapeError
from cvzoo.links.model.decoding.abstract import AbstractDecoding
from cvzoo.links.model.preparation.abstract import Placement
from cvzoo.typing.aliases import Array, Size


@dataclasses.dataclass(frozen=True)
class YoloHead:
    """The head of YOLOv3 and later: a sigmoid per class.

    anchors: (height, width) each, in pixels of the network's input
    n_class: number of classes
    scale_xy: factor by which a center may leave its cell (YOLOv4's scale_x_y); 1: not at all
    new_coords: whether outputs are sigmoids already and sides are squares (Scaled-YOLOv4)

    Source: Redmon and Farhadi, YOLOv3: An Incremental Improvement, 2018, section 2.1; darknet's [yolo].
    """

    anchors: tuple[tuple[float, float], ...]
    n_class: int
    scale_xy: float = 1.0
    new_coords: bool = False

    @property
    def cells(self) -> CellHead:
        """The meaning of its outputs."""
        return CellHead(self.anchors, self.n_class, scale_xy=self.scale_xy, new_coords=self.new_coords)

    @property
    def n_channel(self) -> int:
        """How many channels the head reads."""
        return self.cells.n_channel


@dataclasses.dataclass(frozen=True)
class RegionHead:
    """The head of YOLOv2: the classes share a softmax.

    anchors: (height, width) each, in cells of the head's grid
    n_class: number of classes
    softmax: False: an independent sigmoid per class

    Source: Redmon and Farhadi, YOLO9000, CVPR 2017, section 2; darknet's [region] without a tree of classes.
    """

    anchors: tuple[tuple[float, float], ...]
    n_class: int
    softmax: bool = True

    @property
    def cells(self) -> CellHead:
        """The meaning of its outputs."""
        return CellHead(self.anchors, self.n_class, softmax=self.softmax, in_cells=True)

    @property
    def n_channel(self) -> int:
        """How many channels the head reads."""
        return self.cells.n_channel


@dataclasses.dataclass(frozen=True, kw_only=True)
class GridCells(AbstractDecoding):
    """YOLO: `outputs` are (B, A * (5 + L), GH, GW) of each head: for each anchor x, y, width, height, objectness and
    the classes.

    heads: of the outputs
    letterbox: whether images are letterboxed: boxes are then divided by the scale, as in darknet
    """

    heads: tuple[YoloHead | RegionHead, ...]
    letterbox: bool = False

    def candidates(self, outputs: Sequence[Array], input_size: Size, frames: Array, score_thresh: float) -> State:
        """As in `AbstractDecoding`. Raises ShapeError if an output has the wrong number of channels."""
        for head, raw in zip(self.heads, outputs):
            if raw.ndim != 4 or raw.shape[1] != head.n_channel:
                raise ShapeError(
                    f"a head of {len(head.anchors)} anchors and {head.n_class} classes reads other channels",
                    expected=f"(B, {head.n_channel}, GH, GW)",
                    got=raw.shape,
                )
        heads = [head.cells for head in self.heads]
        return backend_of(outputs[0]).decode_cells(
            outputs, heads, input_size=input_size, frames=frames, above=score_thresh
        )

    def frame(self, size: tuple[int, int], placement: Placement) -> np.ndarray:
        """As in `AbstractDecoding`."""
        if not self.letterbox:
            return super().frame(size, placement)
        scale = [new / old for new, old in zip(placement.resized, size)]
        return frame(size, offset=placement.offset, divisor=scale)
