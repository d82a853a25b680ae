"""Stochastic gradient descent."""

import numpy.typing as npt

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.optimizers.momentum_sgd import MomentumSGD
from cvzoo.optimizers.nesterov_ag import NesterovAG
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.optimizers.sgd import SGD as PlainSGD
from cvzoo.singa.optimizers.optimizer import AbstractRuleOptimizer
from cvzoo.singa.optimizers.rules import DampenedMomentum
from cvzoo.singa.optimizers.schedule import DecayScheduler, as_schedule
from cvzoo.singa.tensor_class import float32

Number = float | DecayScheduler


class SGD(AbstractRuleOptimizer):
    """g' = g + weight_decay p; v = momentum v + (1 - dampening) g'; p -= lr v.

    momentum, dampening, weight_decay: numbers or schedules; without momentum p -= lr g', for any dampening
    nesterov: p -= lr (g' + momentum v); requires a momentum and no dampening

    v starts from 0, so that the first gradient is dampened, too.
    Raises ValueRangeError for values out of range.
    """

    slot_names = {"v": "moments"}

    def __init__(
        self,
        lr: Number = 0.1,
        momentum: Number = 0,
        dampening: Number = 0,
        weight_decay: Number = 0,
        nesterov: bool = False,
        dtype: npt.DTypeLike = float32,
    ):
        self.momentum = as_schedule(momentum, "momentum", at_least=0)
        self.dampening = as_schedule(dampening, "dampening")
        self.nesterov = nesterov
        has_momentum = self.momentum.init_value != 0
        if nesterov and (self.momentum.init_value <= 0 or self.dampening.init_value != 0):
            raise ValueRangeError("SGD: nesterov requires a momentum above 0 and no dampening")
        rules: AbstractOptimizer = NesterovAG() if nesterov else DampenedMomentum() if has_momentum else PlainSGD()
        if has_momentum and not nesterov and self._never_dampened():
            rules = MomentumSGD()
        super().__init__(lr, dtype, weight_decay, rules)
        known = rules.hyperparam.get_dict()
        if "momentum" in known:
            self._schedule("momentum", "mom_value", self.momentum)
        if "dampening" in known:
            self._schedule("dampening", "dam_value", self.dampening)
        self._apply_schedules()

    def _never_dampened(self) -> bool:
        return self.dampening.init_value == 0
