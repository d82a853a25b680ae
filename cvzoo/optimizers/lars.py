"""LARS: SGD with layer-wise adaptive step sizes."""

from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.optimizers.gradient_hook import Selector
from cvzoo.optimizers.hyperparameter import HyperparameterProxy
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.optimizers.update_rule import AbstractLayerwiseRule, Ratio
from cvzoo.typing.aliases import Array


class LARSRule(AbstractLayerwiseRule):
    """v = momentum v + lr ratio (g + decay p); p -= v; ratio = trust |p| / (|g| + decay |p|)."""

    slots = ("v",)

    def coefficients(self, hp: Mapping[str, float], t: int, exempt: bool) -> tuple[float | None, ...]:
        return hp["lr"], hp["momentum"], None if exempt or not hp["weight_decay_rate"] else hp["weight_decay_rate"]

    def measure_block(
        self, p: Array, g: Array, state: Sequence[Array], c: Sequence[Array], scratch: Sequence[Array]
    ) -> tuple[Array, Array]:
        return p, g

    def ratio(self, first: np.ndarray, second: np.ndarray, hp: Mapping[str, float], exempt: bool) -> np.ndarray:
        if exempt:
            return np.ones_like(first)
        below = second + hp["weight_decay_rate"] * first + hp["eps"]
        plain = (first == 0) | (second == 0)  # with a ratio of 0, a layer of zeros would never change
        return np.where(plain, 1.0, hp["trust"] * first / np.where(plain, 1.0, below))

    def update_block(
        self, p: Array, g: Array, state: Sequence[Array], c: Sequence[Array], scratch: Sequence[Array], ratio: Ratio
    ) -> None:
        lr, momentum, decay = c
        (v,) = state
        step = scratch[0]
        if decay is None:
            np.multiply(g, lr, step)
        else:
            np.multiply(p, decay, step)
            np.add(step, g, step)
            np.multiply(step, lr, step)
        np.multiply(step, ratio, step)
        np.multiply(v, momentum, v)
        np.add(v, step, v)
        np.subtract(p, v, p)


class LARS(AbstractOptimizer):
    """LARS: momentum SGD with a learning rate per parameter, from the norms of the parameter and of its gradient.

    lr: global learning rate, which is scheduled
    momentum: decay rate of v
    trust: trust coefficient: size of an update relative to the parameter's norm
    weight_decay_rate: weight decay, in the norms' ratio and in the update
    eps: added to the denominator for numerical stability
    exempt: (path, param) -> bool, parameters with plain momentum and without weight decay, such as `is_vector`

    Source: Large Batch Training of Convolutional Networks (You, Gitman and Ginsburg, 2017), algorithm 1,
    https://arxiv.org/abs/1708.03888. Where we differ: eps; parameters and gradients of norm 0 have the ratio 1.
    """

    __slots__ = ()
    rule_class = LARSRule
    lr = HyperparameterProxy("lr")
    momentum = HyperparameterProxy("momentum")
    trust = HyperparameterProxy("trust")
    weight_decay_rate = HyperparameterProxy("weight_decay_rate")
    eps = HyperparameterProxy("eps")

    def __init__(
        self,
        lr: float = 0.1,
        momentum: float = 0.9,
        trust: float = 0.001,
        weight_decay_rate: float = 0.0,
        eps: float = 1e-9,
        *,
        exempt: Selector | None = None,
    ):
        values = {"lr": lr, "momentum": momentum, "trust": trust, "weight_decay_rate": weight_decay_rate, "eps": eps}
        super().__init__(values, exempt)
