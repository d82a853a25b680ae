"""Batch normalization."""

from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.normalization.batch_normalization import batch_normalization
from cvzoo.functions.normalization.fixed_batch_normalization import fixed_batch_normalization
from cvzoo.singa.layers.layer import Layer, check_input
from cvzoo.singa.tensor_class import Tensor, apply

_EPS = 1e-5


class BatchNorm2d(Layer):
    """Batch normalization of each channel, with the batch's statistics in training and the running ones otherwise.

    BatchNorm2d(), or BatchNorm2d(channels[, momentum]); the channels are learned from the first input
    momentum: how much the batch's statistics count: running = (1 - momentum) running + momentum batch. That is
        SINGA's, whose 0.9 is the 0.1 of other libraries

    scale, bias (C,) are parameters, running_mean, running_var (C,) are numpy arrays, and states.
    """

    running_mean: np.ndarray
    running_var: np.ndarray

    def __init__(self, *args: Any, momentum: float = 0.9):
        self.channels = args[0] if args else None
        self.momentum = args[1] if len(args) > 1 else momentum
        if not 0 <= self.momentum <= 1:
            raise ValueRangeError("BatchNorm2d: momentum must be in [0, 1]", got=self.momentum)

    def initialize(self, x: Tensor) -> None:
        """Create parameters and running statistics."""
        check_input("BatchNorm2d", x, 2 if len(x.shape) == 2 else 4, self.channels)
        self.channels = x.shape[1]
        self.scale = Tensor((self.channels,), stores_grad=True).set_value(1.0)
        self.bias = Tensor((self.channels,), stores_grad=True)
        self.add_persistent("running_mean", np.zeros(self.channels, np.float32))
        self.add_persistent("running_var", np.ones(self.channels, np.float32))

    def forward(self, x: Tensor) -> Tensor:
        """x's shape; x is (B, C, H, W) or (B, C)."""
        check_input("BatchNorm2d", x, 2 if len(x.shape) == 2 else 4, self.channels)
        return apply(self._normalize, x)

    def _normalize(self, x: Variable) -> Variable:
        mean, var = self.running_mean, self.running_var
        if not switches.train:
            return fixed_batch_normalization(x, self.scale, self.bias, mean, var, eps=_EPS)
        return batch_normalization(
            x, self.scale, self.bias, eps=_EPS, running_mean=mean, running_var=var, decay=1 - self.momentum
        )
