"""Preprocessing of ImageNet classifiers: resize and center crop."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

from cvzoo.backends.image_plan import Resampling
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.preparation.abstract import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    AbstractPreparation,
    Fact,
    Placement,
    Size,
    Three,
    checked_side,
)
from cvzoo.links.model.preparation.short_side import short_side_size

Interpolation = Literal["bilinear", "bicubic"]


@dataclasses.dataclass(frozen=True)
class CenterCrop(AbstractPreparation):
    """Resizes the short side as Pillow does on uint8, center-crops and normalizes. Its fields are validated.

    short: length of the short side, pixels
    crop: side of the square crop
    interpolation: "bilinear" or "bicubic", both antialiased
    mean, std: of RGB in [0, 1]
    header: see `AbstractPreparation`
    Raises ValueRangeError that names the field.
    """

    short: int = 256
    crop: int = 224
    interpolation: Interpolation = "bilinear"
    mean: Three = IMAGENET_MEAN
    std: Three = IMAGENET_STD
    _: dataclasses.KW_ONLY
    header: tuple[Fact, ...] | None = dataclasses.field(default=None, compare=False)

    usual_header = ("short", "crop", "interpolation", "mean", "std")
    value_range = 1.0
    fill = 0.0

    def __post_init__(self) -> None:
        checked_side("CenterCrop: short", self.short)
        checked_side("CenterCrop: crop", self.crop)
        if self.interpolation not in ("bilinear", "bicubic"):
            raise ValueRangeError(
                "CenterCrop: interpolation is unknown", expected="'bilinear' or 'bicubic'", got=repr(self.interpolation)
            )
        self._check_numbers()

    @property
    def resampling(self) -> Resampling:  # type: ignore[override]
        return Resampling.PILLOW if self.interpolation == "bilinear" else Resampling.PILLOW_CUBIC

    def placement(self, size: Size) -> Placement:
        height, width = resized = short_side_size(size, self.short)
        offset = _middle_offset(height, self.crop), _middle_offset(width, self.crop)
        return Placement(resized, (self.crop, self.crop), offset)

    def fit(self) -> dict[str, Any]:
        return {"fit": "short side", "short": self.short, "crop": self.crop}

    def facts(self) -> dict[str, Any]:
        return {"short": self.short, "crop": self.crop, "interpolation": self.interpolation}

    def fit_in_words(self) -> str:
        return f"short side {self.short} ({self.filter_in_words()}), middle {self.crop} x {self.crop}"

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON values."""
        mean, std = list(self.mean), list(self.std)
        return {"short": self.short, "crop": self.crop, "interpolation": self.interpolation, "mean": mean, "std": std}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "CenterCrop":
        """The preparation from the output of `to_json`. Raises KeyError, TypeError or ValueRangeError for others."""
        return cls(
            fields["short"], fields["crop"], fields["interpolation"], tuple(fields["mean"]), tuple(fields["std"])
        )


def _middle_offset(side: int, crop: int) -> int:
    """Offset of a center crop along one side; halves are rounded to even, as in torchvision."""
    return (crop - side) // 2 if side < crop else -round((side - crop) / 2)


PhotoPreparation = CenterCrop  # its former name
