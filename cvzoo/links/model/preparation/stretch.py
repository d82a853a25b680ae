"""Preprocessing by stretching to one size."""

import dataclasses
from typing import Any

from cvzoo.links.model.preparation.abstract import AbstractNormalizedPreparation, Placement, Size, checked_size


@dataclasses.dataclass(frozen=True)
class Stretch(AbstractNormalizedPreparation):
    """Resizes to `size` (H, W) without keeping the aspect ratio.

    The other fields are those of `AbstractNormalizedPreparation`.
    Raises ValueRangeError that names the field.
    """

    size: Size

    usual_header = ("channels", "mean", "std", "size", "interpolation")

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", checked_size("Stretch: size", self.size))
        super().__post_init__()

    def placement(self, size: Size) -> Placement:
        return Placement(self.size, self.size)

    def fit(self) -> dict[str, Any]:
        return {"fit": "stretch", "size": list(self.size)}

    def facts(self) -> dict[str, Any]:
        height, width = self.size
        return {"size": [height, width], "fit": "stretch", "height": height, "width": width, "stretched_to": height}

    def fit_in_words(self) -> str:
        height, width = self.size
        return f"{width} x {height} (W x H), stretched ({self.filter_in_words()})"
