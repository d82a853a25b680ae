"""Preprocessing of images for YOLO."""

from typing import Any, Literal

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.config import COUNT, config_field
from cvzoo.links.model.preparation.abstract import Arithmetic
from cvzoo.links.model.preparation.letterbox import Letterbox
from cvzoo.links.model.preparation.stretch import Stretch

Fit = Literal["stretch", "letterbox"]
_IN_ONE: Arithmetic = "x * (1 / std) - mean / std"


def insize_field() -> Any:
    """The side of the network's square input, a config field; the model has it as its attribute."""
    return config_field(
        help="height and width of the network's input, a multiple of 32",
        unit="pixels",
        at_least=1,
        at_most=COUNT,
        adjustable=True,
    )


def checked_insize(insize: int) -> int:
    """insize itself. Raises ValueRangeError unless it is a positive multiple of 32."""
    if isinstance(insize, bool) or not isinstance(insize, int) or insize < 32 or insize % 32:
        raise ValueRangeError("insize must be a multiple of 32", got=repr(insize))
    return insize


def darknet_letterbox(input_size: tuple[int, int]) -> Letterbox:
    """Letterbox: resized with the aspect ratio kept, padded with gray; RGB in [0, 1]."""
    return Letterbox(input_size, arithmetic=_IN_ONE)


def darknet_stretch(input_size: tuple[int, int]) -> Stretch:
    """Resized without keeping the aspect ratio; RGB in [0, 1]."""
    return Stretch(input_size, std=(255.0, 255.0, 255.0), arithmetic=_IN_ONE)
