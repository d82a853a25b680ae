"""Chainer's `chainer.optimizer_hooks`: its names, which other rooms define."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.optimizers.hooks.gradient_clipping import GradientClipping
    from cvzoo.optimizers.hooks.gradient_hard_clipping import GradientHardClipping
    from cvzoo.optimizers.hooks.gradient_noise import GradientNoise
    from cvzoo.optimizers.hooks.lasso import Lasso
    from cvzoo.optimizers.hooks.weight_decay import WeightDecay

__all__ = ["GradientClipping", "GradientHardClipping", "GradientNoise", "Lasso", "WeightDecay"]

import_on_demand(__name__)
