"""Preprocessing without resizing."""

import dataclasses
from typing import Any

from cvzoo.backends.image_plan import Resampling
from cvzoo.links.model.preparation.abstract import AbstractNormalizedPreparation, Placement, Size


@dataclasses.dataclass(frozen=True)
class AsIs(AbstractNormalizedPreparation):
    """Not resized. The fields are those of `AbstractNormalizedPreparation`.

    Raises ValueRangeError that names the field.
    """

    _: dataclasses.KW_ONLY
    resampling: Resampling = Resampling.BILINEAR

    usual_header = ("channels", "mean", "std")

    def placement(self, size: Size) -> Placement:
        return Placement(size, size)

    def fit(self) -> dict[str, Any]:
        return {"fit": "none", "filter": "bilinear, antialiased"}  # which is never applied

    def facts(self) -> dict[str, Any]:
        return {"range": [0, 255]}

    def fit_in_words(self) -> str:
        return ""
