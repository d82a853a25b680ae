"""Gradients times a number: parameters that learn faster or slower than the others."""

from collections.abc import Sequence

import numpy as np

from cvzoo.optimizers.gradient_hook import AbstractGradientHook, Selector
from cvzoo.typing.aliases import Array


class GradientScaling(AbstractGradientHook):
    """Scales gradients: rate * g.

    rate: may be assigned
    exempt: (path, param) -> bool, parameters whose gradients stay, or None
    only: likewise, the parameters that are changed; None: all but the exempt ones

    Source: Caffe's lr_mult, as ChainerCV's SSD has it: biases learn twice as fast.
    """

    name = "GradientScaling"

    def __init__(self, rate: float, *, exempt: Selector | None = None, only: Selector | None = None):
        self.rate = rate
        self.exempt = exempt
        if only is not None:
            self.exempt = lambda path, param: not only(path, param) or (exempt is not None and exempt(path, param))

    def coefficients(self, t: int, norm: float | None) -> tuple[float, ...] | None:
        return None if self.rate == 1 else (self.rate,)

    def change(self, p: Array, g: Array, out: Array, scratch: Array, c: Sequence[Array]) -> None:
        np.multiply(g, c[0], out)
