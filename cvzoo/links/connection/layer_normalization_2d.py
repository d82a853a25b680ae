"""A layer normalization of each pixel's channels."""

from typing import Any

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.array.transpose import transpose
from cvzoo.functions.normalization.layer_normalization import layer_normalization
from cvzoo.links.link import Link


class LayerNormalization2D(Link):
    """Normalizes the channels of each pixel of a map, then scales and shifts; nothing is copied.

    size: how many channels
    eps: added to the variance
    gamma, beta (size,) are parameters that start from 1 and 0.
    Source: as ConvNeXt has it (Liu et al., CVPR 2022).
    """

    def __init__(self, size: int, eps: float = 1e-6):
        self.eps = eps
        with self.init_scope():
            self.gamma = Parameter(1, size)
            self.beta = Parameter(0, size)

    def forward(self, x: Any) -> Variable:
        """x's shape; x is (B, size, H, W), channels-last in memory."""
        y = layer_normalization(transpose(x, (0, 2, 3, 1)), self.gamma, self.beta, self.eps)
        return transpose(y, (0, 3, 1, 2))
