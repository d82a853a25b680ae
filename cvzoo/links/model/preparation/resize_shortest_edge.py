"""Preprocessing by the shortest edge, with a limit for the longest."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Literal

from cvzoo.backends.image_plan import Resampling
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.preparation.abstract import (
    FACTS_OF_255,
    MEAN_OF_255,
    STD_OF_255,
    AbstractNormalizedPreparation,
    Placement,
    Size,
    checked_numbers,
    checked_side,
)

Sides = Literal["torchvision", "chainercv", "detectron2"]

# entries about sizes in headers of model files
RESIZED_FACTS = ("short_side", "long_side_at_most", "interpolation", "padded_to_multiples_of")


@dataclasses.dataclass(frozen=True)
class ResizeShortestEdge(AbstractNormalizedPreparation):
    """Resizes until the short side is `min_size` or the long side `max_size`, whichever is smaller.

    sides: rounding of the sides to whole pixels: torchvision's and ChainerCV's rounds down, Detectron2's to nearest
    multiple: sides are zero-padded at the bottom and right to multiples of it; at_least: and to this length
    one_scale: whether boxes are scaled by the width's factor along both axes, as in py-faster-rcnn
    The other fields are those of `AbstractNormalizedPreparation`.
    Raises ValueRangeError that names the field.
    """

    min_size: int
    max_size: int
    _: dataclasses.KW_ONLY
    sides: Sides = "torchvision"
    multiple: int = 1
    at_least: int = 1
    one_scale: bool = False

    usual_header = ("channels", "mean", "std", *RESIZED_FACTS)

    def __post_init__(self) -> None:
        for name in ("multiple", "at_least"):
            checked_side(f"ResizeShortestEdge: {name}", getattr(self, name))
        for name in ("min_size", "max_size"):
            if not getattr(self, name) > 0:
                raise ValueRangeError(f"ResizeShortestEdge: {name} must be positive", got=getattr(self, name))
        super().__post_init__()

    def placement(self, size: Size) -> Placement:
        resized = _SIZES[self.sides](size, self.min_size, self.max_size)
        height, width = (max(-(-side // self.multiple) * self.multiple, self.at_least) for side in resized)
        return Placement(resized, (height, width))

    def part(self, size: Size) -> tuple[float, float, float, float]:
        y, x, height, width = super().part(size)
        if self.one_scale:
            height, width = (side * width / size[1] for side in size)
        return y, x, height, width

    def fit(self) -> dict[str, Any]:
        rule = "rounded" if self.sides == "detectron2" else "cut off"
        sides = {"short": self.min_size, "long": self.max_size, "sides": rule}
        return {"fit": "sides", **sides, "pad": self.multiple, "at_least": self.at_least}

    def facts(self) -> dict[str, Any]:
        sides = {"short_side": self.min_size, "long_side_at_most": self.max_size}
        return {**sides, "padded_to_multiples_of": self.multiple if self.multiple > 1 else None}

    def fit_in_words(self) -> str:
        padded = f", padded to multiples of {self.multiple}" if self.multiple > 1 else ""
        return f"short side {self.min_size}, long side at most {self.max_size}, {self.filter_in_words()}{padded}"


def fitted_size(size: Sequence[int], min_size: int, max_size: int) -> Size:
    """(H, W) of the resized image, rounded down, at least 1, in the arithmetic of torchvision, where 97 x 97 becomes
    799 x 799 and not 800 x 800."""
    factor = min(min_size / min(size), max_size / max(size))
    return max(math.floor(size[0] * factor), 1), max(math.floor(size[1] * factor), 1)


def _scale(size: Sequence[int], min_size: int, max_size: int) -> float:
    scale = min_size / min(size)
    return max_size / max(size) if scale * max(size) > max_size else scale


def _cut_off(size: Sequence[int], min_size: int, max_size: int) -> Size:
    scale = _scale(size, min_size, max_size)
    return max(int(size[0] * scale), 1), max(int(size[1] * scale), 1)


def _rounded(size: Sequence[int], min_size: int, max_size: int) -> Size:
    scale = _scale(size, min_size, max_size)
    return max(int(size[0] * scale + 0.5), 1), max(int(size[1] * scale + 0.5), 1)


_SIZES = {"torchvision": fitted_size, "chainercv": _cut_off, "detectron2": _rounded}


def torchvision_detector_preparation(min_size: int, max_size: int, *, antialias: bool) -> ResizeShortestEdge:
    """The short side min_size, normalized by ImageNet's statistics, sides padded to multiples of 32.

    antialias: resized as in Pillow, then normalized; otherwise normalized, then resized without antialiasing
    """
    return ResizeShortestEdge(
        min_size,
        max_size,
        multiple=32,  # the stride of C5, so that the sides of maps are exact halves
        mean=checked_numbers("mean", MEAN_OF_255),
        std=checked_numbers("std", STD_OF_255),
        resampling=Resampling.PILLOW_FLOATS if antialias else Resampling.BILINEAR,
        normalize_first=not antialias,
        header=("channels", *FACTS_OF_255, *RESIZED_FACTS),
    )
