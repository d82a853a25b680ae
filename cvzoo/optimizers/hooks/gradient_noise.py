"""Noise on gradients."""

from cvzoo.backends.device import on_device_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.optimizers.optimizer_hook import AbstractOptimizerHook
from cvzoo.typing.aliases import Array


class GradientNoise(AbstractOptimizerHook):
    """Adds normal noise of variance eta / (1 + t)^gamma after t updates to the gradients.

    It is drawn from cvzoo's generators (`cvzoo.set_seed`); a GPU draws different values than the CPU.

    Source: Adding Gradient Noise Improves Learning for Very Deep Networks (Neelakantan et al., 2015), equation 1,
    https://arxiv.org/abs/1511.06807
    """

    name = "GradientNoise"
    runs_on_device = True

    def __init__(self, eta: float, gamma: float = 0.55):
        self.eta = eta
        self.gamma = gamma

    def __call__(self, optimizer: AbstractOptimizer) -> None:
        sigma = (self.eta / (1 + optimizer.t) ** self.gamma) ** 0.5
        seen = set()
        for param in optimizer.target.params(False):
            grad = param.grad
            if grad is not None and id(param) not in seen:
                seen.add(id(param))
                grad += sigma * _drawn(grad)


def _drawn(like: Array) -> Array:
    with on_device_of(like):
        return backend_of(like).standard_normal(like.shape, like.dtype)
