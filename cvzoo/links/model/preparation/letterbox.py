"""Letterbox preprocessing: the aspect ratio is kept, with padding."""

import dataclasses
from typing import Any

from cvzoo.backends.image_plan import Resampling
from cvzoo.links.model.preparation.abstract import AbstractNormalizedPreparation, Placement, Size, Three, checked_size
from cvzoo.transforms.letterbox import letterbox_frame


@dataclasses.dataclass(frozen=True)
class Letterbox(AbstractNormalizedPreparation):
    """Resizes to fit into `size` (H, W), keeping the aspect ratio, centered; `fill` on both sides.

    The other fields are those of `AbstractNormalizedPreparation`; by default values are in [0, 1], as in darknet.
    Raises ValueRangeError that names the field.
    """

    size: Size
    _: dataclasses.KW_ONLY
    std: Three = (255.0, 255.0, 255.0)
    fill: float = 127.5  # pyright: ignore[reportIncompatibleVariableOverride]  # read-only: the class is frozen
    resampling: Resampling = Resampling.CORNERS

    usual_header = ("channels", "mean", "std", "letterbox", "fill", "interpolation")

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", checked_size("Letterbox: size", self.size))
        super().__post_init__()

    def placement(self, size: Size) -> Placement:
        resized, offset = letterbox_frame(size, self.size)
        return Placement(resized, self.size, offset)

    def fit(self) -> dict[str, Any]:
        return {"fit": "letterbox", "size": list(self.size), "fill": self.fill}

    def facts(self) -> dict[str, Any]:
        height, width = self.size
        return {"letterbox": [height, width], "fill": self.fill, "fit": "letterbox", "height": height, "width": width}

    def fit_in_words(self) -> str:
        height, width = self.size
        return f"{width} x {height} (W x H) letterbox filled with {self.fill:g} ({self.filter_in_words()})"
