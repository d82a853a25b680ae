"""A layer of SegNet."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.activation.relu import relu
from cvzoo.initializers.normal import HeNormal
from cvzoo.links.chain import Chain
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_convolution import can_fold, fused_convolution


class SegNetLayer(Chain):
    """relu(bn(conv(x))), 7 x 7; activ=False leaves out the relu, as the decoder does."""

    def __init__(self, in_channels: int, out_channels: int, *, activ: bool):
        self.activ = activ
        with self.init_scope():
            self.conv = Convolution2D(in_channels, out_channels, 7, 1, 3, nobias=True, initialW=HeNormal())
            self.bn = BatchNormalization(out_channels, initial_beta=0.001)

    def forward(self, x: Any) -> Variable:
        """(B, out_channels, H, W) of x (B, in_channels, H, W)."""
        if can_fold(self.conv, self.bn):
            return fused_convolution(self.conv, self.bn)(x, activation="relu" if self.activ else None)
        h = self.bn(self.conv(x))
        return relu(h) if self.activ else h
