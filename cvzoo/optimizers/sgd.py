"""Stochastic gradient descent."""

from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.optimizers.hyperparameter import HyperparameterProxy
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.optimizers.update_rule import AbstractUpdateRule, Ratio
from cvzoo.typing.aliases import Array


class SGDRule(AbstractUpdateRule):
    """p -= lr g."""

    def coefficients(self, hp: Mapping[str, float], t: int, exempt: bool) -> tuple[float | None, ...]:
        return (hp["lr"],)

    def update_block(
        self, p: Array, g: Array, state: Sequence[Array], c: Sequence[Array], scratch: Sequence[Array], ratio: Ratio
    ) -> None:
        (lr,) = c
        step = np.multiply(g, lr, scratch[0])
        np.subtract(p, step, p)


class SGD(AbstractOptimizer):
    """Stochastic gradient descent: p -= lr g.

    lr: learning rate
    """

    __slots__ = ()
    rule_class = SGDRule
    lr = HyperparameterProxy("lr")

    def __init__(self, lr: float = 0.01):
        super().__init__({"lr": lr})
