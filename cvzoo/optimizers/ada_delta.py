"""AdaDelta."""

from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.optimizers.hyperparameter import HyperparameterProxy
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.optimizers.update_rule import AbstractUpdateRule, Ratio
from cvzoo.typing.aliases import Array


class AdaDeltaRule(AbstractUpdateRule):
    """msg = rho msg + (1 - rho) g^2; dx = sqrt((msdx + eps) / (msg + eps)) g; likewise msdx of dx; p -= dx."""

    slots = ("msg", "msdx")

    def coefficients(self, hp: Mapping[str, float], t: int, exempt: bool) -> tuple[float | None, ...]:
        return hp["rho"], 1 - hp["rho"], hp["eps"]

    def update_block(
        self, p: Array, g: Array, state: Sequence[Array], c: Sequence[Array], scratch: Sequence[Array], ratio: Ratio
    ) -> None:
        rho, rest, eps = c
        msg, msdx = state
        dx, root = scratch
        np.multiply(g, g, dx)
        np.multiply(dx, rest, dx)
        np.multiply(msg, rho, msg)
        np.add(msg, dx, msg)
        np.add(msdx, eps, dx)
        np.add(msg, eps, root)
        np.divide(dx, root, dx)
        np.sqrt(dx, dx)
        np.multiply(dx, g, dx)
        np.subtract(p, dx, p)
        np.multiply(dx, dx, dx)
        np.multiply(dx, rest, dx)
        np.multiply(msdx, rho, msdx)
        np.add(msdx, dx, msdx)


class AdaDelta(AbstractOptimizer):
    """AdaDelta: the root mean square of past updates over that of gradients; without a learning rate.

    rho: decay rate of the mean squares
    eps: added under the roots; determines the size of the first updates

    Source: ADADELTA: An Adaptive Learning Rate Method (Zeiler, 2012), algorithm 1, https://arxiv.org/abs/1212.5701
    """

    __slots__ = ()
    rule_class = AdaDeltaRule
    rho = HyperparameterProxy("rho")
    eps = HyperparameterProxy("eps")

    def __init__(self, rho: float = 0.95, eps: float = 1e-6):
        super().__init__({"rho": rho, "eps": eps})
