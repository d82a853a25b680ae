"""Batch normalization whose statistics, scale and shift are not learned any more."""

from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.normalization.fixed_batch_normalization import fixed_batch_normalization
from cvzoo.links.link import Link

_NONE = 1e-30  # changes no variance, and keeps one of 0 from dividing by 0


class FrozenBatchNormalization(Link):
    """gamma * (x - avg_mean) / sqrt(avg_var + eps) + beta, also while training.

    size: the number of channels
    eps: added to the variance; 0 for none

    gamma, beta, avg_mean, avg_var (C,) and N are persistent, under the names that BatchNormalization gives them: the
    files of one fit the other. There is no parameter.
    """

    def __init__(self, size: int, eps: float = 1e-5):
        self.eps = eps
        self.add_persistent("gamma", np.ones(size, np.float32))
        self.add_persistent("beta", np.zeros(size, np.float32))
        self.add_persistent("avg_mean", np.zeros(size, np.float32))
        self.add_persistent("avg_var", np.ones(size, np.float32))
        self.add_persistent("N", 0)

    def forward(self, x: Any) -> Variable:
        """x's shape; x is (B, C, ...)."""
        eps = max(self.eps, _NONE)
        return fixed_batch_normalization(x, self.gamma, self.beta, self.avg_mean, self.avg_var, eps=eps)

    def describe(self) -> str:
        return f"{len(self.gamma)}, eps={self.eps}"
