"""Nesterov's accelerated gradient."""

from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.optimizers.hyperparameter import HyperparameterProxy
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.optimizers.update_rule import AbstractUpdateRule, Ratio
from cvzoo.typing.aliases import Array


class NesterovAGRule(AbstractUpdateRule):
    """v = momentum v + g; p -= lr (g + momentum v)."""

    slots = ("v",)

    def coefficients(self, hp: Mapping[str, float], t: int, exempt: bool) -> tuple[float | None, ...]:
        return hp["lr"], hp["momentum"]

    def update_block(
        self, p: Array, g: Array, state: Sequence[Array], c: Sequence[Array], scratch: Sequence[Array], ratio: Ratio
    ) -> None:
        lr, momentum = c
        (v,) = state
        np.multiply(v, momentum, v)
        np.add(v, g, v)
        step = np.multiply(v, momentum, scratch[0])
        np.add(step, g, step)
        np.multiply(step, lr, step)
        np.subtract(p, step, p)


class NesterovAG(AbstractOptimizer):
    """Nesterov's accelerated gradient: v = momentum v + g; p -= lr (g + momentum v).

    lr: learning rate
    momentum: decay rate of v

    Source: On the importance of initialization and momentum in deep learning (Sutskever et al., ICML 2013), at the
    point of Bengio et al. (2012, https://arxiv.org/abs/1212.0901), as torch.optim.SGD(nesterov=True). Where
    we differ: Chainer keeps lr times v, see MomentumSGD.
    """

    __slots__ = ()
    rule_class = NesterovAGRule
    lr = HyperparameterProxy("lr")
    momentum = HyperparameterProxy("momentum")

    def __init__(self, lr: float = 0.01, momentum: float = 0.9):
        super().__init__({"lr": lr, "momentum": momentum})
