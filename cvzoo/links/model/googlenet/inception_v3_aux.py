"""The classifier in the middle of Inception v3, which training alone needs."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import HeNormal
from cvzoo.links.chain import Chain
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DBNActiv
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.googlenet.mixed import EPS, Layer, convolution


class InceptionV3Aux(Chain):
    """fc(mean of conv1(conv0(means of 5 x 5))), for maps of at least 17 x 17.

    channels: of conv0; conv1 has 6 times as many
    """

    def __init__(self, in_channels: int, channels: int, n_class: int):
        with self.init_scope():
            self.conv0 = convolution(in_channels, Layer("conv0", channels))
            self.conv1 = Conv2DBNActiv(channels, 6 * channels, 5, initialW=HeNormal(), bn_eps=EPS)
            self.fc = Linear(6 * channels, n_class)

    def forward(self, x: Any) -> Variable:
        """Scores (B, n_class) of x (B, in_channels, H, W)."""
        h = self.conv1(self.conv0(F.average_pooling_2d(x, 5, 3)))
        return self.fc(F.global_average_pooling_2d(h))
