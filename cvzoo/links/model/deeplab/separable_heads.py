"""The heads of DeepLab v3+: its pyramid and its decoder, of separable convolutions."""

from collections.abc import Sequence
from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DBNActiv
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.separable_conv_2d_bn_activ import SeparableConv2DBNActiv

_NORM = {"bn_decay": 0.9997, "bn_eps": 1e-5}


class SeparableASPP(Chain):
    """Atrous spatial pyramid pooling of separable convolutions.

    dilations: of the looks
    dropout: how much of the result is dropped while training
    Source: Chen et al., Encoder-Decoder with Atrous Separable Convolution, ECCV 2018.
    """

    def __init__(
        self, in_channels: int, out_channels: int, *, dilations: Sequence[int] = (12, 24, 36), dropout: float = 0.5
    ):
        self.dropout = dropout
        with self.init_scope():
            self.image_pooling_conv = Conv2DBNActiv(in_channels, out_channels, 1, **_NORM)
            self.conv1x1 = Conv2DBNActiv(in_channels, out_channels, 1, **_NORM)
            self.atrous = ChainList(
                *(SeparableConv2DBNActiv(in_channels, out_channels, 3, 1, d, dilate=d, **_NORM) for d in dilations)
            )
            self.proj = Conv2DBNActiv((2 + len(dilations)) * out_channels, out_channels, 1, **_NORM)

    def forward(self, x: Any) -> Variable:
        """(B, out_channels, H, W) of x (B, in_channels, H, W)."""
        near = self.conv1x1(x)
        mean = self.image_pooling_conv(F.reshape(F.global_average_pooling_2d(x), (*x.shape[:2], 1, 1)))
        looks = [F.broadcast_to(mean, near.shape), near, *(look(x) for look in self.atrous)]
        return F.dropout(self.proj(F.concat(looks, axis=1)), self.dropout)


class Decoder(Chain):
    """Classes at the fine map's size, from it and from the pyramid's coarse one.

    fine_channels, coarse_channels: of the maps
    projected: channels that the fine map is reduced to
    middle: channels of the convolutions
    """

    def __init__(self, fine_channels: int, coarse_channels: int, n_class: int, *, projected: int, middle: int):
        with self.init_scope():
            # the eps is ChainerCV's, with which the published numbers were measured
            self.feature_proj = Conv2DBNActiv(fine_channels, projected, 1, bn_eps=2e-5)
            self.conv1 = SeparableConv2DBNActiv(coarse_channels + projected, middle, 3, 1, 1, **_NORM)
            self.conv2 = SeparableConv2DBNActiv(middle, middle, 3, 1, 1, **_NORM)
            self.conv_logits = Convolution2D(middle, n_class, 1)

    def forward(self, fine: Any, coarse: Any) -> Variable:
        """(B, n_class, H, W) of fine (B, fine_channels, H, W) and coarse (B, coarse_channels, H', W')."""
        large = F.resize_images(coarse, fine.shape[2:], align_corners=True)
        h = F.concat([large, self.feature_proj(fine)], axis=1)
        return self.conv_logits(self.conv2(self.conv1(h)))
