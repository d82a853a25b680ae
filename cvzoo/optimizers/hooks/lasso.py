"""L1 regularization."""

from collections.abc import Sequence

import numpy as np

from cvzoo.optimizers.gradient_hook import AbstractGradientHook, Selector
from cvzoo.typing.aliases import Array


class Lasso(AbstractGradientHook):
    """L1 regularization: g + rate sign(p).

    rate: may be assigned
    exempt: (path, param) -> bool, parameters that are left alone, such as `is_vector`
    """

    name = "Lasso"

    def __init__(self, rate: float, *, exempt: Selector | None = None):
        self.rate = rate
        self.exempt = exempt

    def coefficients(self, t: int, norm: float | None) -> tuple[float, ...] | None:
        return (self.rate,) if self.rate else None

    def change(self, p: Array, g: Array, out: Array, scratch: Array, c: Sequence[Array]) -> None:
        np.sign(p, scratch)
        np.multiply(scratch, c[0], scratch)
        np.add(g, scratch, out)
