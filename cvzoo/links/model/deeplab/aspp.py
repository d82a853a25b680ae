"""Looking near, far and at the whole photo at once."""

from collections.abc import Sequence
from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.model.conv_norm_activ import ConvNormActiv


class ASPP(Chain):
    """Atrous spatial pyramid pooling: one pixel, three dilated looks and the photo's mean, joined by `project`.

    dilations: of the looks
    dropout: how much of the result is dropped while training
    Source: Chen et al., Rethinking Atrous Convolution for Semantic Image Segmentation, 2017.
    """

    def __init__(
        self, in_channels: int, out_channels: int, *, dilations: Sequence[int] = (12, 24, 36), dropout: float = 0.5
    ):
        self.dropout = dropout
        with self.init_scope():
            self.near = ConvNormActiv(in_channels, out_channels, 1)
            self.atrous = ChainList(*(ConvNormActiv(in_channels, out_channels, 3, dilate=d) for d in dilations))
            self.whole = ConvNormActiv(in_channels, out_channels, 1)
            self.project = ConvNormActiv((2 + len(dilations)) * out_channels, out_channels, 1)

    def forward(self, x: Any) -> Variable:
        """(B, out_channels, H, W) of x (B, in_channels, H, W)."""
        mean = self.whole(F.reshape(F.global_average_pooling_2d(x), (*x.shape[:2], 1, 1)))
        looks = [self.near(x), *(look(x) for look in self.atrous)]
        looks.append(F.broadcast_to(mean, looks[0].shape))
        return F.dropout(self.project(F.concat(looks, axis=1)), self.dropout)


class DeepLabV3Head(Chain):
    """One number a class: out(conv(aspp(x)))."""

    def __init__(self, in_channels: int, n_class: int, *, middle: int = 256, dilations: Sequence[int] = (12, 24, 36)):
        with self.init_scope():
            self.aspp = ASPP(in_channels, middle, dilations=dilations)
            self.conv = ConvNormActiv(middle, middle, 3)
            self.out = Convolution2D(middle, n_class, 1)

    def forward(self, x: Any) -> Variable:
        """(B, n_class, H, W) of x (B, in_channels, H, W)."""
        return self.out(self.conv(self.aspp(x)))
