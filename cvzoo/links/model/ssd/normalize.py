"""Length 1 at every place of a map, times a learned scale."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.links.link import Link


class Normalize(Link):
    """scale * x / (|x| + eps), |x| being the length of a place's channels.

    n_channel: C
    initial: what `scale` (C,) starts from

    Source: Liu et al., ParseNet, 2015, section 3.3; SSD's conv4_3 starts from 20.
    """

    def __init__(self, n_channel: int, initial: Any = 1, eps: float = 1e-5):
        self.eps = eps
        with self.init_scope():
            self.scale = Parameter(initial, (n_channel,))

    def forward(self, x: Any) -> Variable:
        """x's shape (B, C, H, W)."""
        length = F.norm(x, axis=1, keepdims=True) + self.eps
        return x * F.reshape(self.scale, (1, -1, 1, 1)) / length
