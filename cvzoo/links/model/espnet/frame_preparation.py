"""Preprocessing of video frames for ESPNet."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from cvzoo.backends.image_plan import Resampling
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.preparation.abstract import AbstractPreparation, Placement, Size, Three


@dataclasses.dataclass(frozen=True)
class FramePreparation(AbstractPreparation):
    """Resizes to one size as OpenCV does, BGR, (x - mean) / std / 255. Its fields are validated.

    insize: (H, W), multiples of 8
    mean, std: of blue, green and red in [0, 255]
    Raises ValueRangeError that names the field.
    """

    insize: Size = (360, 480)
    mean: Three = (110.33139, 108.40919, 105.03353)
    std: Three = (72.125206, 72.68849, 69.902596)

    arithmetic = "(x - mean) / std / 255"
    channels = "BGR"
    normalize_first = True
    resampling = Resampling.BILINEAR
    usual_header = ("channels", "insize", "mean", "std")

    def __post_init__(self) -> None:
        if len(self.insize) != 2 or any(type(side) is not int or side < 8 or side % 8 for side in self.insize):
            raise ValueRangeError("FramePreparation: insize must be two multiples of 8", got=repr(self.insize))
        object.__setattr__(self, "insize", tuple(self.insize))
        self._check_numbers()

    def placement(self, size: Size) -> Placement:
        return Placement(self.insize, self.insize)

    def fit(self) -> dict[str, Any]:
        return {"fit": "stretch", "size": list(self.insize)}

    def facts(self) -> dict[str, Any]:
        return {"insize": list(self.insize), "mean": list(self.mean), "std": list(self.std)}

    def fit_in_words(self) -> str:
        height, width = self.insize
        return f"{width} x {height} (W x H), stretched bilinearly"

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return {"insize": list(self.insize), "mean": list(self.mean), "std": list(self.std)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "FramePreparation":
        """The preparation from the output of `to_json`. Raises KeyError, TypeError or ValueRangeError for others."""
        return cls(tuple(fields["insize"]), tuple(fields["mean"]), tuple(fields["std"]))
