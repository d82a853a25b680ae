"""What DenseNets are built of: layers that see all before them, and what stands between the blocks."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import HeNormal
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.model.conv_norm_activ import ConvNormActiv

EPS = 1e-5


class DenseLayer(Chain):
    """x and `growth` new channels behind it: conv(squeeze(relu(norm(x)))), 1 x 1 to 4 * growth channels, then 3 x 3."""

    def __init__(self, in_channels: int, growth: int):
        with self.init_scope():
            self.norm = BatchNormalization(in_channels, eps=EPS)
            self.squeeze = ConvNormActiv(in_channels, 4 * growth, 1, eps=EPS)
            self.conv = Convolution2D(4 * growth, growth, 3, 1, 1, nobias=True, initialW=HeNormal())

    def forward(self, x: Any) -> Variable:
        """(B, in_channels + growth, H, W) of x (B, in_channels, H, W)."""
        return F.concat((x, self.conv(self.squeeze(F.relu(self.norm(x))))), axis=1)


class DenseBlock(ChainList):
    """`count` dense layers, one after another."""

    def __init__(self, in_channels: int, growth: int, count: int):
        super().__init__(*(DenseLayer(in_channels + i * growth, growth) for i in range(count)))

    def forward(self, x: Any) -> Variable:
        """(B, in_channels + count * growth, H, W) of x (B, in_channels, H, W)."""
        for layer in self:
            x = layer(x)
        return x


class Transition(Chain):
    """Half the channels, half the height and width: means of 2 x 2 of conv(relu(norm(x)))."""

    def __init__(self, in_channels: int):
        with self.init_scope():
            self.norm = BatchNormalization(in_channels, eps=EPS)
            self.conv = Convolution2D(in_channels, in_channels // 2, 1, nobias=True, initialW=HeNormal())

    def forward(self, x: Any) -> Variable:
        """(B, in_channels // 2, H // 2, W // 2) of x (B, in_channels, H, W)."""
        return F.average_pooling_2d(self.conv(F.relu(self.norm(x))), 2)
