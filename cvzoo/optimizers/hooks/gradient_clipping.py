"""Clipping of the gradients' norm."""

from collections.abc import Sequence

import numpy as np

from cvzoo.optimizers.gradient_hook import AbstractGradientHook
from cvzoo.typing.aliases import Array


class GradientClipping(AbstractGradientHook):
    """Gradient clipping by global norm: g *= threshold / norm, if the norm of all gradients exceeds the threshold.

    threshold: may be assigned
    norm: the norm before clipping in the last update; None before the first. Reading it synchronizes with a GPU

    Source: On the difficulty of training Recurrent Neural Networks (Pascanu et al., ICML 2013), algorithm 1. Where we
    differ: a norm that is not finite clips nothing, so that divergence stays visible.
    """

    name = "GradientClipping"
    needs_norm = True

    def __init__(self, threshold: float):
        self.threshold = threshold
        self._norm: Array | float | None = None

    @property
    def norm(self) -> float | None:
        return None if self._norm is None else float(self._norm)

    def coefficients(self, t: int, norm: float | None) -> tuple[float, ...] | None:
        self._norm = norm
        (factor,) = self.coefficients_of_norm(t, np.float64(norm))
        return None if factor == 1 else (float(factor),)

    def coefficients_of_norm(self, t: int, norm: Array | np.float64) -> tuple[Array, ...]:
        clips = np.isfinite(norm) & (norm > self.threshold)
        return (np.where(clips, self.threshold / np.where(clips, norm, 1.0), 1.0),)

    def measured(self, norm: Array) -> None:
        self._norm = norm

    def change(self, p: Array, g: Array, out: Array, scratch: Array, c: Sequence[Array]) -> None:
        np.multiply(g, c[0], out)
