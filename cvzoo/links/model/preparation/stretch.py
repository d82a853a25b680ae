"""An image stretched to one size."""

import dataclasses
from typing import Any

from cvzoo.backends.resampling import Resampling
from cvzoo.links.model.preparation.abstract import AbstractPreparation, Arithmetic, Fact, Size, Three
from cvzoo.links.model.preparation.checks import checked_size
from cvzoo.links.model.preparation.placement import Placement

_HEADER = ("channels", "mean", "std", "size", "interpolation")


@dataclasses.dataclass(frozen=True)
class Stretch(AbstractPreparation):
    """Resized to `size` (H, W) whatever its proportions.

    The other fields are those of `AbstractPreparation`.
    Raises ValueRangeError that names the field.
    """

    size: Size
    _: dataclasses.KW_ONLY
    mean: Three = (0.0, 0.0, 0.0)
    std: Three = (1.0, 1.0, 1.0)
    value_range: float = 255.0
    arithmetic: Arithmetic = "(x - mean) / std"
    resampling: Resampling = Resampling.PILLOW_FLOATS
    header: tuple[Fact, ...] = dataclasses.field(default=_HEADER, compare=False)

    def __post_init__(self):
        object.__setattr__(self, "size", checked_size("Stretch: size", self.size))
        self._check_numbers()

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
