"""RMSprop."""

from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.optimizers.hyperparameter import HyperparameterProxy
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.optimizers.update_rule import AbstractUpdateRule, Ratio
from cvzoo.typing.aliases import Array


class RMSpropRule(AbstractUpdateRule):
    """ms = alpha ms + (1 - alpha) g^2; p -= lr g / (sqrt(ms) + eps)."""

    slots = ("ms",)

    def coefficients(self, hp: Mapping[str, float], t: int, exempt: bool) -> tuple[float | None, ...]:
        inside = bool(hp["eps_inside_sqrt"])
        return hp["lr"], hp["alpha"], 1 - hp["alpha"], hp["eps"] if inside else None, None if inside else hp["eps"]

    def update_block(
        self, p: Array, g: Array, state: Sequence[Array], c: Sequence[Array], scratch: Sequence[Array], ratio: Ratio
    ) -> None:
        lr, alpha, rest, eps_inside, eps_outside = c
        (ms,) = state
        step = scratch[0]
        np.multiply(g, g, step)
        np.multiply(step, rest, step)
        np.multiply(ms, alpha, ms)
        np.add(ms, step, ms)
        if eps_inside is None:
            np.sqrt(ms, step)
            np.add(step, eps_outside, step)
        else:
            np.add(ms, eps_inside, step)
            np.sqrt(step, step)
        np.divide(g, step, step)
        np.multiply(step, lr, step)
        np.subtract(p, step, p)


class RMSprop(AbstractOptimizer):
    """RMSprop: ms = alpha ms + (1 - alpha) g^2; p -= lr g / (sqrt(ms) + eps).

    lr: learning rate
    alpha: decay rate of the mean square
    eps: added to the denominator for numerical stability
    eps_inside_sqrt: divide by sqrt(ms + eps) instead, as TensorFlow does

    Source: Lecture 6.5 of Neural Networks for Machine Learning (Tieleman and Hinton, 2012); torch.optim.RMSprop.
    """

    __slots__ = ()
    rule_class = RMSpropRule
    lr = HyperparameterProxy("lr")
    alpha = HyperparameterProxy("alpha")
    eps = HyperparameterProxy("eps")
    eps_inside_sqrt = HyperparameterProxy("eps_inside_sqrt")

    def __init__(self, lr: float = 0.01, alpha: float = 0.99, eps: float = 1e-8, eps_inside_sqrt: bool = False):
        super().__init__({"lr": lr, "alpha": alpha, "eps": eps, "eps_inside_sqrt": eps_inside_sqrt})
