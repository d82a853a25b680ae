"""Clipping of each gradient's value."""

from collections.abc import Sequence

import numpy as np

from cvzoo.optimizers.gradient_hook import AbstractGradientHook
from cvzoo.typing.aliases import Array


class GradientHardClipping(AbstractGradientHook):
    """Clips each element of the gradients to [lower_bound, upper_bound]; NaN is kept."""

    name = "GradientHardClipping"

    def __init__(self, lower_bound: float, upper_bound: float):
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound

    def coefficients(self, t: int, norm: float | None) -> tuple[float, ...] | None:
        return self.lower_bound, self.upper_bound

    def change(self, p: Array, g: Array, out: Array, scratch: Array, c: Sequence[Array]) -> None:
        np.maximum(g, c[0], out=out)
        np.minimum(out, c[1], out=out)
