"""SINGA's `opt`: optimizers that are called with a loss, and schedules of their hyperparameters."""

from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.singa.optimizers.ada_grad import AdaGrad
from cvzoo.singa.optimizers.adam import Adam
from cvzoo.singa.optimizers.optimizer import Optimizer
from cvzoo.singa.optimizers.rms_prop import RMSProp
from cvzoo.singa.optimizers.schedule import Constant, DecayScheduler, ExponentialDecay
from cvzoo.singa.optimizers.sgd import SGD


class DistOpt:
    """Raises UnsupportedError: training on several machines or processes is not built yet."""

    def __init__(self, opt: Optimizer | None = None):
        raise UnsupportedError("DistOpt: training by several processes is not built yet", hint="opt.SGD itself")


__all__ = [
    "AdaGrad",
    "Adam",
    "Constant",
    "DecayScheduler",
    "DistOpt",
    "ExponentialDecay",
    "Optimizer",
    "RMSProp",
    "SGD",
]
