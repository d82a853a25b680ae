"""AdaGrad."""

from cvzoo.singa.optimizers.optimizer import AbstractRuleOptimizer
from cvzoo.singa.optimizers.rules import InsideAdaGrad
from cvzoo.singa.optimizers.schedule import DecayScheduler, as_schedule
from cvzoo.singa.tensor_class import float32

Number = float | DecayScheduler


class AdaGrad(AbstractRuleOptimizer):
    """g' = g + weight_decay p; h += g'^2; p -= lr g' / sqrt(h + epsilon). Numbers or schedules."""

    slot_names = {"h": "history"}

    def __init__(self, lr: Number = 0.1, epsilon: Number = 1e-8, weight_decay: Number = 0):
        super().__init__(lr, float32, weight_decay, InsideAdaGrad())
        self.epsilon = as_schedule(epsilon, "epsilon")
        self._schedule("eps", "epsilon_value", self.epsilon)
        self._apply_schedules()
