"""AMSGrad."""

from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.optimizers.hyperparameter import HyperparameterProxy
from cvzoo.optimizers.moments import bias_corrections, direction, update_moments
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.optimizers.update_rule import AbstractUpdateRule, Ratio
from cvzoo.typing.aliases import Array


class AMSGradRule(AbstractUpdateRule):
    """Adam's step with the largest mean square so far in the denominator."""

    slots = ("m", "v", "vhat")

    def coefficients(self, hp: Mapping[str, float], t: int, exempt: bool) -> tuple[float | None, ...]:
        fix1, root2 = bias_corrections(hp, t)
        return 1 - hp["beta1"], 1 - hp["beta2"], hp["eps"] * root2, hp["alpha"] * root2 / fix1

    def update_block(
        self, p: Array, g: Array, state: Sequence[Array], c: Sequence[Array], scratch: Sequence[Array], ratio: Ratio
    ) -> None:
        rest1, rest2, eps, length = c
        m, v, vhat = state
        update_moments(m, v, g, rest1, rest2, scratch[0])
        np.maximum(vhat, v, out=vhat)
        step = direction(m, vhat, eps, scratch[0])
        np.multiply(step, length, step)
        np.subtract(p, step, p)


class AMSGrad(AbstractOptimizer):
    """AMSGrad: Adam whose denominator never shrinks.

    alpha: learning rate; `lr` is an alias
    beta1, beta2, eps: as in Adam

    Source: On the Convergence of Adam and Beyond (Reddi et al., ICLR 2018), https://openreview.net/forum?id=ryQu7f-RZ.
    Where we differ: the bias is corrected as in Adam, like torch.optim.Adam(amsgrad=True); the paper corrects nothing.
    """

    __slots__ = ()
    rule_class = AMSGradRule
    alpha = HyperparameterProxy("alpha")
    lr = HyperparameterProxy("alpha")
    beta1 = HyperparameterProxy("beta1")
    beta2 = HyperparameterProxy("beta2")
    eps = HyperparameterProxy("eps")

    def __init__(self, alpha: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8):
        super().__init__({"alpha": alpha, "beta1": beta1, "beta2": beta2, "eps": eps})
