"""What kinds of preparations have in common that leave resampling and normalization to who declares them."""

import dataclasses
from typing import Literal

from cvzoo.backends.resampling import Resampling
from cvzoo.links.model.preparation.abstract import AbstractPreparation, Arithmetic, Fact, Three


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbstractNormalizedPreparation(AbstractPreparation):
    """A preparation with the fields of `AbstractPreparation`, by name. Raises ValueRangeError that names the field."""

    mean: Three = (0.0, 0.0, 0.0)
    std: Three = (1.0, 1.0, 1.0)
    value_range: float = 255.0
    arithmetic: Arithmetic = "(x - mean) / std"
    resampling: Resampling = Resampling.PILLOW_FLOATS
    normalize_first: bool = False
    channels: Literal["RGB", "BGR"] = "RGB"
    header: tuple[Fact, ...] | None = dataclasses.field(default=None, compare=False)

    def __post_init__(self):
        self._check_numbers()
