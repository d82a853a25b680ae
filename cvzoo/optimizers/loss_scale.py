"""A factor that keeps small gradients from vanishing in half precision."""

import math
from collections.abc import Mapping
from typing import Any

from cvzoo.errors.exceptions import ValueRangeError

FIRST = 2.0**15
LARGEST = 2.0**24


class LossScale:
    """The factor of losses.

    scale: fixed, or None: start at 32768, halve at an overflow, double after `interval` updates without one
    Raises ValueRangeError for a scale or an interval that is not positive.

    Source: Mixed Precision Training (Micikevicius et al., ICLR 2018), section 3.2, https://arxiv.org/abs/1710.03740
    """

    def __init__(self, *, interval: int = 1000, scale: float | None = None):
        if interval < 1 or (scale is not None and not (math.isfinite(scale) and scale > 0)):
            raise ValueRangeError("loss_scaling wants positive numbers", got=f"interval={interval}, scale={scale}")
        self.interval = interval
        self.dynamic = scale is None
        self.scale = FIRST if scale is None else float(scale)
        self.n_good = 0

    def overflowed(self) -> None:
        """An update was left out."""
        self.n_good = 0
        if self.dynamic:
            self.scale = max(self.scale / 2, 1.0)

    def went_well(self) -> None:
        """Gradients were finite."""
        self.n_good += 1
        if self.dynamic and self.n_good >= self.interval:
            self.n_good = 0
            self.scale = min(self.scale * 2, LARGEST)

    def state(self) -> dict[str, Any]:
        """The factor and how long it held."""
        return {"scale": self.scale, "n_good": self.n_good}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self.scale = float(state["scale"])
        self.n_good = int(state["n_good"])
