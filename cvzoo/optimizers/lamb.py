"""LAMB: Adam with layer-wise adaptive step sizes."""

from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.optimizers.gradient_hook import Selector
from cvzoo.optimizers.hyperparameter import HyperparameterProxy
from cvzoo.optimizers.moments import bias_corrections, direction, update_moments
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.optimizers.update_rule import AbstractLayerwiseRule, Ratio
from cvzoo.typing.aliases import Array


class LAMBRule(AbstractLayerwiseRule):
    """p -= alpha ratio u; u = m' / (sqrt(v') + eps) + weight_decay_rate p; ratio = |p| / |u|."""

    slots = ("m", "v")

    def coefficients(self, hp: Mapping[str, float], t: int, exempt: bool) -> tuple[float | None, ...]:
        fix1, root2 = bias_corrections(hp, t)
        decay = None if exempt or not hp["weight_decay_rate"] else hp["weight_decay_rate"]
        return 1 - hp["beta1"], 1 - hp["beta2"], hp["eps"] * root2, root2 / fix1, hp["alpha"], decay

    def measure_block(
        self, p: Array, g: Array, state: Sequence[Array], c: Sequence[Array], scratch: Sequence[Array]
    ) -> tuple[Array, Array]:
        rest1, rest2, *others = c
        m, v = state
        update_moments(m, v, g, rest1, rest2, scratch[0])
        return p, _direction(p, m, v, others, scratch)

    def ratio(self, first: np.ndarray, second: np.ndarray, hp: Mapping[str, float], exempt: bool) -> np.ndarray:
        if exempt:
            return np.ones_like(first)
        # with a ratio of 0, a layer of zeros would never change
        plain = (first == 0) | (second == 0)
        return np.where(plain, 1.0, first / np.where(plain, 1.0, second))

    def update_block(
        self, p: Array, g: Array, state: Sequence[Array], c: Sequence[Array], scratch: Sequence[Array], ratio: Ratio
    ) -> None:
        alpha = c[4]
        m, v = state
        # computed a second time: keeping it from `measure_block` would take as much memory as the parameters
        step = _direction(p, m, v, c[2:], scratch)
        np.multiply(step, alpha, step)
        np.multiply(step, ratio, step)
        np.subtract(p, step, p)


def _direction(p: Array, m: Array, v: Array, c: Sequence[Array], scratch: Sequence[Array]) -> Array:
    eps, correction, _, decay = c
    u, decayed = scratch
    direction(m, v, eps, u)
    np.multiply(u, correction, u)
    if decay is not None:
        np.multiply(p, decay, decayed)
        np.add(u, decayed, u)
    return u


class LAMB(AbstractOptimizer):
    """LAMB: Adam with decoupled weight decay and layer-wise adaptive step sizes.

    alpha: learning rate, relative to the parameter's norm; `lr` is an alias
    beta1, beta2, eps: as in Adam
    weight_decay_rate: weight decay, added to the direction
    exempt: (path, param) -> bool, parameters with plain Adam and without weight decay, such as `is_vector`

    Source: Large Batch Optimization for Deep Learning: Training BERT in 76 minutes (You et al., ICLR 2020), algorithm
    2, phi the identity, https://arxiv.org/abs/1904.00962. Where we differ: parameters and directions of norm 0 have the
    ratio 1.
    """

    __slots__ = ()
    rule_class = LAMBRule
    alpha = HyperparameterProxy("alpha")
    lr = HyperparameterProxy("alpha")
    beta1 = HyperparameterProxy("beta1")
    beta2 = HyperparameterProxy("beta2")
    eps = HyperparameterProxy("eps")
    weight_decay_rate = HyperparameterProxy("weight_decay_rate")

    def __init__(
        self,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay_rate: float = 0.0,
        *,
        exempt: Selector | None = None,
    ):
        values = {"alpha": alpha, "beta1": beta1, "beta2": beta2, "eps": eps, "weight_decay_rate": weight_decay_rate}
        super().__init__(values, exempt)
