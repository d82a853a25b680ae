"""Adam with decoupled weight decay."""

from cvzoo.optimizers.adam import AdamRule
from cvzoo.optimizers.gradient_hook import Selector
from cvzoo.optimizers.hyperparameter import HyperparameterProxy
from cvzoo.optimizers.optimizer import AbstractOptimizer


class AdamW(AbstractOptimizer):
    """Adam with decoupled weight decay: p -= eta (Adam's step + weight_decay_rate p).

    alpha: learning rate; `lr` is an alias
    beta1, beta2, eps: as in Adam
    eta: factor of both; schedule eta, not alpha, so that the decay follows
    weight_decay_rate: fraction of a parameter that is subtracted per update
    exempt: (path, param) -> bool, parameters without weight decay, such as `is_vector`

    Source: Decoupled Weight Decay Regularization (Loshchilov and Hutter, ICLR 2019), algorithm 2,
    https://arxiv.org/abs/1711.05101. torch.optim.AdamW multiplies weight_decay by lr: its AdamW(lr=a, weight_decay=w)
    is AdamW(alpha=a, weight_decay_rate=a * w) here.
    """

    __slots__ = ()
    rule_class = AdamRule
    alpha = HyperparameterProxy("alpha")
    lr = HyperparameterProxy("alpha")
    beta1 = HyperparameterProxy("beta1")
    beta2 = HyperparameterProxy("beta2")
    eps = HyperparameterProxy("eps")
    eta = HyperparameterProxy("eta")
    weight_decay_rate = HyperparameterProxy("weight_decay_rate")

    def __init__(
        self,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        eta: float = 1.0,
        weight_decay_rate: float = 1e-5,
        *,
        exempt: Selector | None = None,
    ):
        values = {"alpha": alpha, "beta1": beta1, "beta2": beta2, "eps": eps}
        super().__init__({**values, "eta": eta, "weight_decay_rate": weight_decay_rate}, exempt)
