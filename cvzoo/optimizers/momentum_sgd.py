"""Stochastic gradient descent with momentum."""

from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.optimizers.hyperparameter import HyperparameterProxy
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.optimizers.update_rule import AbstractUpdateRule, Ratio
from cvzoo.typing.aliases import Array


class MomentumSGDRule(AbstractUpdateRule):
    """v = momentum v + g; p -= lr v."""

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
        step = np.multiply(v, lr, scratch[0])
        np.subtract(p, step, p)


class MomentumSGD(AbstractOptimizer):
    """Stochastic gradient descent with momentum: v = momentum v + g; p -= lr v.

    lr: learning rate
    momentum: decay rate of v

    Source: On the importance of initialization and momentum in deep learning (Sutskever et al., ICML 2013), in the form
    of torch.optim.SGD. Where we differ: Chainer's MomentumSGD keeps lr times v; the same steps as long as lr stays, but
    there a new lr counts for new gradients only (Chainer's CorrectedMomentumSGD is this one).
    """

    __slots__ = ()
    rule_class = MomentumSGDRule
    lr = HyperparameterProxy("lr")
    momentum = HyperparameterProxy("momentum")

    def __init__(self, lr: float = 0.01, momentum: float = 0.9):
        super().__init__({"lr": lr, "momentum": momentum})


CorrectedMomentumSGD = MomentumSGD  # the name by which Chainer has it
