"""RMSprop."""

from cvzoo.optimizers.rms_prop import RMSprop
from cvzoo.singa.optimizers.optimizer import AbstractRuleOptimizer
from cvzoo.singa.optimizers.schedule import DecayScheduler, as_schedule
from cvzoo.singa.tensor_class import float32

Number = float | DecayScheduler


class RMSProp(AbstractRuleOptimizer):
    """g' = g + weight_decay p; a = rho a + (1 - rho) g'^2; p -= lr g' / sqrt(a + epsilon). Numbers or schedules."""

    slot_names = {"ms": "running_average"}

    def __init__(self, lr: Number = 0.1, rho: Number = 0.9, epsilon: Number = 1e-8, weight_decay: Number = 0):
        super().__init__(lr, float32, weight_decay, RMSprop(eps_inside_sqrt=True))
        self.rho = as_schedule(rho, "rho")
        self.epsilon = as_schedule(epsilon, "epsilon")
        self._schedule("alpha", "rho_value", self.rho)
        self._schedule("eps", "epsilon_value", self.epsilon)
        self._apply_schedules()
