"""Classifiers in the middle of GoogLeNet, which training alone needs."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.googlenet.mixed import Layer, convolution


class GoogLeNetAux(Chain):
    """fc2(relu(fc1(conv(4 x 4 means of x)))).

    channels: of the 1 x 1 convolution; fc1 has 8 times as many
    """

    def __init__(self, in_channels: int, channels: int, n_class: int):
        with self.init_scope():
            self.conv = convolution(in_channels, Layer("conv", channels))
            self.fc1 = Linear(16 * channels, 8 * channels)
            self.fc2 = Linear(8 * channels, n_class)

    def forward(self, x: Any) -> Variable:
        """Scores (B, n_class) of x (B, in_channels, H, W)."""
        h = F.relu(self.fc1(self.conv(F.adaptive_average_pooling_2d(x, 4))))
        return self.fc2(F.dropout(h, 0.7))
