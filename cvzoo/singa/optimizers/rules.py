"""The two update rules of SINGA that cvzoo's optimizers do not have."""

from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.optimizers.update_rule import AbstractUpdateRule, Ratio
from cvzoo.typing.aliases import Array


class DampenedRule(AbstractUpdateRule):
    """v = momentum v + (1 - dampening) g; p -= lr v."""

    slots = ("v",)

    def coefficients(self, hp: Mapping[str, float], t: int, exempt: bool) -> tuple[float | None, ...]:
        return hp["lr"], hp["momentum"], 1 - hp["dampening"]

    def update_block(
        self, p: Array, g: Array, state: Sequence[Array], c: Sequence[Array], scratch: Sequence[Array], ratio: Ratio
    ) -> None:
        lr, momentum, rest = c
        (v,) = state
        step = np.multiply(g, rest, scratch[0])
        np.multiply(v, momentum, v)
        np.add(v, step, v)
        np.multiply(v, lr, step)
        np.subtract(p, step, p)


class DampenedMomentum(AbstractOptimizer):
    """Momentum with dampening of each gradient, including the first."""

    __slots__ = ()
    rule_class = DampenedRule

    def __init__(self) -> None:
        super().__init__({"lr": 0.1, "momentum": 0.0, "dampening": 0.0})


class InsideAdaGradRule(AbstractUpdateRule):
    """h += g^2; p -= lr g / sqrt(h + eps)."""

    slots = ("h",)

    def coefficients(self, hp: Mapping[str, float], t: int, exempt: bool) -> tuple[float | None, ...]:
        return hp["lr"], hp["eps"]

    def update_block(
        self, p: Array, g: Array, state: Sequence[Array], c: Sequence[Array], scratch: Sequence[Array], ratio: Ratio
    ) -> None:
        lr, eps = c
        (h,) = state
        step = np.multiply(g, g, scratch[0])
        np.add(h, step, h)
        np.add(h, eps, step)
        np.sqrt(step, step)
        np.divide(g, step, step)
        np.multiply(step, lr, step)
        np.subtract(p, step, p)


class InsideAdaGrad(AbstractOptimizer):
    """AdaGrad with eps under the root."""

    __slots__ = ()
    rule_class = InsideAdaGradRule

    def __init__(self) -> None:
        super().__init__({"lr": 0.1, "eps": 1e-8})
