"""Clipping of the gradients' norm."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.optimizers.gradient_hook import AbstractGradientHook

Array = Any


class GradientClipping(AbstractGradientHook):
    """g times threshold / norm, if the norm of all gradients together is larger than the threshold.

    threshold: may be assigned
    norm: the norm before clipping, of the last update; None before the first

    Source: On the difficulty of training Recurrent Neural Networks (Pascanu et al., ICML 2013), algorithm 1. Where we
    differ: a norm that is not finite clips nothing, so that what went wrong stays visible.
    """

    name = "GradientClipping"
    needs_norm = True

    def __init__(self, threshold: float):
        self.threshold = threshold
        self.norm: float | None = None

    def coefficients(self, t: int, norm: float | None) -> tuple[float, ...] | None:
        self.norm = norm
        return (self.threshold / norm,) if np.isfinite(norm) and norm > self.threshold else None

    def change(self, p: Array, g: Array, out: Array, scratch: Array, c: Sequence[Array]) -> None:
        np.multiply(g, c[0], out)
