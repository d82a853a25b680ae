"""Adam."""

from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.optimizers.hyperparameter import HyperparameterProxy
from cvzoo.optimizers.moments import bias_corrections, direction, update_moments
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.optimizers.update_rule import AbstractUpdateRule, Ratio
from cvzoo.typing.aliases import Array


class AdamRule(AbstractUpdateRule):
    """p -= eta (alpha m' / (sqrt(v') + eps) + weight_decay_rate p); m', v' the unbiased moving means of g and g^2."""

    slots = ("m", "v")

    def coefficients(self, hp: Mapping[str, float], t: int, exempt: bool) -> tuple[float | None, ...]:
        fix1, root2 = bias_corrections(hp, t)
        decay = 0.0 if exempt else hp["eta"] * hp["weight_decay_rate"]
        # sqrt(v / fix2) + eps = (sqrt(v) + eps root2) / root2
        step = hp["eta"] * hp["alpha"] * root2 / fix1
        return 1 - hp["beta1"], 1 - hp["beta2"], hp["eps"] * root2, step, 1 - decay if decay else None

    def update_block(
        self, p: Array, g: Array, state: Sequence[Array], c: Sequence[Array], scratch: Sequence[Array], ratio: Ratio
    ) -> None:
        rest1, rest2, eps, length, keep = c
        m, v = state
        update_moments(m, v, g, rest1, rest2, scratch[0])
        step = direction(m, v, eps, scratch[0])
        np.multiply(step, length, step)
        if keep is not None:
            np.multiply(p, keep, p)
        np.subtract(p, step, p)


class Adam(AbstractOptimizer):
    """Adam: moving mean of gradients over the root of the moving mean of their squares.

    alpha: learning rate; `lr` is an alias
    beta1, beta2: decay rates of the moving means
    eps: added to the denominator for numerical stability

    Source: Adam: A Method for Stochastic Optimization (Kingma and Ba, ICLR 2015), algorithm 1,
    https://arxiv.org/abs/1412.6980. Where we differ: Chainer adds eps to the root of the biased mean square, so that
    its eps counts more in the first steps, and its `lr` is the corrected alpha.
    """

    __slots__ = ()
    rule_class = AdamRule
    alpha = HyperparameterProxy("alpha")
    lr = HyperparameterProxy("alpha")
    beta1 = HyperparameterProxy("beta1")
    beta2 = HyperparameterProxy("beta2")
    eps = HyperparameterProxy("eps")

    def __init__(self, alpha: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8):
        super().__init__(
            {"alpha": alpha, "beta1": beta1, "beta2": beta2, "eps": eps, "eta": 1.0, "weight_decay_rate": 0.0}
        )
