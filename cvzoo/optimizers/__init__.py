"""Optimizers: update rules for parameters, hooks, moving averages of weights."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.optimizers.ada_delta import AdaDelta
    from cvzoo.optimizers.ada_grad import AdaGrad
    from cvzoo.optimizers.adam import Adam
    from cvzoo.optimizers.adam_w import AdamW
    from cvzoo.optimizers.ams_grad import AMSGrad
    from cvzoo.optimizers.gradient_exchange import AbstractGradientExchange
    from cvzoo.optimizers.gradient_hook import AbstractGradientHook
    from cvzoo.optimizers.hooks.exponential_moving_average import ExponentialMovingAverage
    from cvzoo.optimizers.hooks.freeze import Freeze
    from cvzoo.optimizers.hooks.gradient_clipping import GradientClipping
    from cvzoo.optimizers.hooks.gradient_hard_clipping import GradientHardClipping
    from cvzoo.optimizers.hooks.gradient_noise import GradientNoise
    from cvzoo.optimizers.hooks.gradient_scaling import GradientScaling
    from cvzoo.optimizers.hooks.lasso import Lasso
    from cvzoo.optimizers.hooks.weight_decay import WeightDecay
    from cvzoo.optimizers.hyperparameter import Hyperparameter, HyperparameterProxy
    from cvzoo.optimizers.lamb import LAMB
    from cvzoo.optimizers.lars import LARS
    from cvzoo.optimizers.learning_rate_factors import layerwise_lr_decay, scale_learning_rate
    from cvzoo.optimizers.momentum_sgd import CorrectedMomentumSGD, MomentumSGD
    from cvzoo.optimizers.nesterov_ag import NesterovAG
    from cvzoo.optimizers.optimizer import AbstractOptimizer
    from cvzoo.optimizers.optimizer_hook import AbstractOptimizerHook
    from cvzoo.optimizers.rms_prop import RMSprop
    from cvzoo.optimizers.selectors import is_vector, named
    from cvzoo.optimizers.sgd import SGD
    from cvzoo.optimizers.update_rule import AbstractLayerwiseRule, AbstractUpdateRule

__all__ = [
    "AbstractGradientExchange",
    "AbstractGradientHook",
    "AbstractLayerwiseRule",
    "AbstractOptimizer",
    "AbstractOptimizerHook",
    "AbstractUpdateRule",
    "AdaDelta",
    "AdaGrad",
    "Adam",
    "AdamW",
    "AMSGrad",
    "CorrectedMomentumSGD",
    "ExponentialMovingAverage",
    "Freeze",
    "GradientClipping",
    "GradientHardClipping",
    "GradientNoise",
    "GradientScaling",
    "Hyperparameter",
    "HyperparameterProxy",
    "is_vector",
    "LAMB",
    "LARS",
    "Lasso",
    "layerwise_lr_decay",
    "MomentumSGD",
    "named",
    "NesterovAG",
    "RMSprop",
    "scale_learning_rate",
    "SGD",
    "WeightDecay",
]

import_on_demand(__name__)
