"""The head that makes classes of feature maps."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.model.conv_norm_activ import ConvNormActiv


class FCNHead(Chain):
    """out(dropout(conv(x))): 3 x 3 to a quarter of the channels, then one number a class.

    dropout: how much of the middle is dropped while training
    Source: torchvision's head of this name.
    """

    def __init__(self, in_channels: int, n_class: int, *, dropout: float = 0.1):
        self.dropout = dropout
        middle = max(1, in_channels // 4)
        with self.init_scope():
            self.conv = ConvNormActiv(in_channels, middle, 3)
            self.out = Convolution2D(middle, n_class, 1)

    def forward(self, x: Any) -> Variable:
        """(B, n_class, H, W) of x (B, in_channels, H, W)."""
        return self.out(F.dropout(self.conv(x), self.dropout))
