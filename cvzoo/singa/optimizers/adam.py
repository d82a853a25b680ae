"""Adam."""

from cvzoo.optimizers.adam import Adam as AdamRules
from cvzoo.singa.optimizers.optimizer import AbstractRuleOptimizer
from cvzoo.singa.optimizers.schedule import DecayScheduler, as_schedule
from cvzoo.singa.tensor_class import float32

Number = float | DecayScheduler


class Adam(AbstractRuleOptimizer):
    """g' = g + weight_decay p; m = beta_1 m + (1 - beta_1) g'; v = beta_2 v + (1 - beta_2) g'^2;
    p -= lr (m / (1 - beta_1^t)) / (sqrt(v / (1 - beta_2^t)) + epsilon), t from 1. Numbers or schedules.
    """

    slot_names = {"m": "m", "v": "v"}

    def __init__(
        self,
        lr: Number = 0.1,
        beta_1: Number = 0.9,
        beta_2: Number = 0.999,
        epsilon: Number = 1e-8,
        weight_decay: Number = 0,
    ):
        super().__init__(lr, float32, weight_decay, AdamRules())
        self.beta_1 = as_schedule(beta_1, "beta_1")
        self.beta_2 = as_schedule(beta_2, "beta_2")
        self.epsilon = as_schedule(epsilon, "epsilon")
        self._schedule("beta1", "beta_1_value", self.beta_1)
        self._schedule("beta2", "beta_2_value", self.beta_2)
        self._schedule("eps", "epsilon_value", self.epsilon)
        self._apply_schedules()
