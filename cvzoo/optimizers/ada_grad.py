"""AdaGrad."""

from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.optimizers.hyperparameter import HyperparameterProxy
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.optimizers.update_rule import AbstractUpdateRule, Ratio
from cvzoo.typing.aliases import Array


class AdaGradRule(AbstractUpdateRule):
    """h += g^2; p -= lr g / (sqrt(h) + eps)."""

    slots = ("h",)

    def coefficients(self, hp: Mapping[str, float], t: int, exempt: bool) -> tuple[float | None, ...]:
        return hp["lr"], hp["eps"]

    def update_block(
        self, p: Array, g: Array, state: Sequence[Array], c: Sequence[Array], scratch: Sequence[Array], ratio: Ratio
    ) -> None:
        lr, eps = c
        (h,) = state
        step = scratch[0]
        np.multiply(g, g, step)
        np.add(h, step, h)
        np.sqrt(h, step)
        np.add(step, eps, step)
        np.divide(g, step, step)
        np.multiply(step, lr, step)
        np.subtract(p, step, p)


class AdaGrad(AbstractOptimizer):
    """AdaGrad: h += g^2; p -= lr g / (sqrt(h) + eps).

    lr: learning rate
    eps: added to the denominator for numerical stability

    Source: Adaptive Subgradient Methods for Online Learning and Stochastic Optimization (Duchi et al., JMLR 2011).
    """

    __slots__ = ()
    rule_class = AdaGradRule
    lr = HyperparameterProxy("lr")
    eps = HyperparameterProxy("eps")

    def __init__(self, lr: float = 0.001, eps: float = 1e-8):
        super().__init__({"lr": lr, "eps": eps})
