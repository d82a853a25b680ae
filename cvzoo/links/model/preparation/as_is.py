"""An image in its own size."""

import dataclasses
from typing import Any

from cvzoo.backends.resampling import Resampling
from cvzoo.links.model.preparation.abstract import AbstractPreparation, Arithmetic, Fact, Size, Three
from cvzoo.links.model.preparation.placement import Placement

_HEADER = ("channels", "mean", "std")


@dataclasses.dataclass(frozen=True)
class AsIs(AbstractPreparation):
    """Not resized. The fields are those of `AbstractPreparation`.

    Raises ValueRangeError that names the field.
    """

    _: dataclasses.KW_ONLY
    mean: Three = (0.0, 0.0, 0.0)
    std: Three = (1.0, 1.0, 1.0)
    value_range: float = 255.0
    arithmetic: Arithmetic = "(x - mean) / std"
    header: tuple[Fact, ...] = dataclasses.field(default=_HEADER, compare=False)

    resampling = Resampling.BILINEAR

    def __post_init__(self):
        self._check_numbers()

    def placement(self, size: Size) -> Placement:
        return Placement(size, size)

    def fit(self) -> dict[str, Any]:
        return {"fit": "none", "filter": "bilinear, antialiased"}  # which nobody asks for

    def facts(self) -> dict[str, Any]:
        return {"range": [0, 255]}

    def fit_in_words(self) -> str:
        return ""
