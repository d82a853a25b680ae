"""SINGA's `opt`: optimizers that are called with a loss, and schedules of their hyperparameters."""

from cvzoo.singa.optimizers.ada_grad import AdaGrad
from cvzoo.singa.optimizers.adam import Adam
from cvzoo.singa.optimizers.dist_opt import DistOpt
from cvzoo.singa.optimizers.optimizer import Optimizer
from cvzoo.singa.optimizers.rms_prop import RMSProp
from cvzoo.singa.optimizers.schedule import Constant, DecayScheduler, ExponentialDecay
from cvzoo.singa.optimizers.sgd import SGD

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
