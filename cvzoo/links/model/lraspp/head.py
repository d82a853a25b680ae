"""A small head on a coarse and a fine map."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.model.conv_norm_activ import ConvNormActiv


class LRASPPHead(Chain):
    """low(fine) + high(conv(coarse) * gate(the photo's mean), enlarged).

    fine_channels, coarse_channels: of the maps
    middle: channels of `conv` and `gate`
    Source: Howard et al., Searching for MobileNetV3, ICCV 2019, section 6.4. Where we differ: as torchvision, the gate
    sees the mean of the whole photo instead of large windows'.
    """

    def __init__(self, fine_channels: int, coarse_channels: int, n_class: int, *, middle: int = 128):
        with self.init_scope():
            self.conv = ConvNormActiv(coarse_channels, middle, 1)
            self.gate = Convolution2D(coarse_channels, middle, 1, nobias=True)
            self.low = Convolution2D(fine_channels, n_class, 1)
            self.high = Convolution2D(middle, n_class, 1)

    def forward(self, fine: Any, coarse: Any) -> Variable:
        """(B, n_class, H, W) of fine (B, fine_channels, H, W) and coarse (B, coarse_channels, H', W')."""
        mean = F.reshape(F.global_average_pooling_2d(coarse), (*coarse.shape[:2], 1, 1))
        gate = F.sigmoid(self.gate(mean))
        h = F.resize_images(self.conv(coarse) * gate, fine.shape[2:], align_corners=False)
        return self.low(fine) + self.high(h)
