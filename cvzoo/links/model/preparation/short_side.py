"""Preprocessing by the short side."""

import dataclasses
from typing import Any

from cvzoo.backends.image_plan import Resampling
from cvzoo.links.model.preparation.abstract import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    AbstractNormalizedPreparation,
    Placement,
    Size,
    Three,
    checked_side,
)


@dataclasses.dataclass(frozen=True)
class ShortSide(AbstractNormalizedPreparation):
    """Resizes until the short side is `short`, keeping the aspect ratio, as torchvision does; nothing is cropped.

    The other fields are those of `AbstractNormalizedPreparation`, mean and std by default ImageNet's of RGB in [0, 1].
    Raises ValueRangeError that names the field.
    """

    short: int
    _: dataclasses.KW_ONLY
    mean: Three = IMAGENET_MEAN
    std: Three = IMAGENET_STD
    value_range: float = 1.0
    resampling: Resampling = Resampling.PILLOW

    usual_header = ("channels", "mean", "std", "short_side", "interpolation")

    def __post_init__(self) -> None:
        checked_side("short", self.short)
        super().__post_init__()

    def placement(self, size: Size) -> Placement:
        resized = short_side_size(size, self.short)
        return Placement(resized, resized)

    def fit(self) -> dict[str, Any]:
        return {"fit": "short side", "short": self.short}

    def facts(self) -> dict[str, Any]:
        return {"short_side": self.short}

    def fit_in_words(self) -> str:
        return f"short side {self.short} ({self.filter_in_words()})"


def short_side_size(size: Size, short: int) -> Size:
    """(H, W) with the short side `short` and the same aspect ratio; the long side is rounded down."""
    height, width = size
    if height <= width:
        return short, int(short * width / height)
    return int(short * height / width), short
