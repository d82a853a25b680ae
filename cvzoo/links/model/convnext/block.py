"""ConvNeXt's block."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import switches
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_linear import fused_linear
from cvzoo.links.connection.layer_normalization_2d import LayerNormalization2D
from cvzoo.links.connection.linear import Linear

_SCALE_START = 1e-6  # the paper's: a block begins as the identity


class ConvNeXtBlock(Chain):
    """x + scale * narrow(gelu(widen(norm(7 x 7 depthwise convolution of x)))).

    n_channel: of x; the hidden layer has four times as many
    drop_path: the probability with which a photo goes round the block while training
    """

    def __init__(self, n_channel: int, drop_path: float = 0.0):
        self.drop_path = drop_path
        with self.init_scope():
            self.depthwise = Convolution2D(n_channel, n_channel, 7, 1, 3, groups=n_channel, initialW=Normal(0.02))
            self.norm = LayerNormalization2D(n_channel)
            self.widen = Linear(n_channel, 4 * n_channel, initialW=Normal(0.02))
            self.narrow = Linear(4 * n_channel, n_channel, initialW=Normal(0.02))
            self.scale = Parameter(_SCALE_START, n_channel)

    def forward(self, x: Any) -> Variable:
        """x's shape; x is (B, n_channel, H, W)."""
        h = F.transpose(self.norm(self.depthwise(x)), (0, 2, 3, 1))
        h = fused_linear(self.widen, h, with_gelu=True)
        around = F.transpose(x, (0, 2, 3, 1))
        if switches.train and self.drop_path:
            h = fused_linear(self.narrow, h, scale=self.scale)
            h = around + F.stochastic_depth(h, self.drop_path)
        else:
            h = fused_linear(self.narrow, h, scale=self.scale, add=around)
        return F.transpose(h, (0, 3, 1, 2))
