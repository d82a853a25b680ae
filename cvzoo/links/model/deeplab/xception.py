"""Xception-65, the backbone of DeepLabV3+."""

from functools import partial
from typing import Literal

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.conv_2d_bn_activ import BNSettings, Conv2DBNActiv, SeparableConv2DBNActiv
from cvzoo.typing.aliases import Array

Skip = Literal["conv", "sum", "none"]
# of TensorFlow's DeepLab, from which the weights were converted
_NORM: BNSettings = {"bn_decay": 0.9997, "bn_eps": 1e-3}


class XceptionBlock(Chain):
    """Three separable convolutions and a shortcut.

    widths: channels after each of the three
    stride: of the third
    skip: "conv": the shortcut is a convolution; "sum": it is x itself; "none": there is none
    activ_first: relu before each separable convolution; otherwise after both of its convolutions
    """

    def __init__(
        self,
        in_channels: int,
        widths: tuple[int, int, int],
        stride: int = 1,
        dilate: int = 1,
        skip: Skip = "conv",
        activ_first: bool = True,
    ):
        self.skip_type = skip
        self.activ_first = activ_first
        between = None if activ_first else F.relu
        separable = partial(SeparableConv2DBNActiv, dilate=dilate, depthwise_activ=between, **_NORM)
        first, second, third = widths
        with self.init_scope():
            # in inference an activation after a convolution is free, since it is fused to its kernel
            self.separable1 = separable(in_channels, first, 3, 1, dilate, pointwise_activ=F.relu)
            self.separable2 = separable(first, second, 3, 1, dilate, pointwise_activ=None)
            self.separable3 = separable(second, third, 3, stride, dilate, pointwise_activ=between)
            self.conv = None
            if skip == "conv":
                self.conv = Conv2DBNActiv(in_channels, third, 1, stride, activ=None, **_NORM)

    def forward(self, x: Variable | Array) -> tuple[Variable, Variable]:
        """(B, widths[2], H / stride, W / stride), sides rounded up, of x (B, in_channels, H, W); and the output
        of the second separable convolution before its relu, (B, widths[1], H, W)."""
        h = self.separable1(F.relu(x) if self.activ_first else x)
        second = self.separable2(h)
        h = self.separable3(F.relu(second))
        if self.conv is not None:
            h = h + self.conv(x)
        elif self.skip_type == "sum":
            h = h + x
        return h, second


class Xception65(Chain):
    """Xception-65 backbone (Chollet, 2017; Chen et al., 2018): feature maps of strides 4 and 8.

    width: multiplier of all channels
    middle_blocks: number of blocks of the middle flow

    `channels` are those of the two maps.
    Source: Chollet, Xception, CVPR 2017; changed as in Chen et al., Encoder-Decoder with Atrous Separable Convolution,
    ECCV 2018.
    """

    def __init__(self, *, width: float = 1.0, middle_blocks: int = 16):
        def n(channels: int) -> int:
            return max(1, int(channels * width))

        deep = n(728)
        self.channels = n(256), n(2048)
        with self.init_scope():
            self.entryflow_conv1 = Conv2DBNActiv(3, n(32), 3, 2, 1, **_NORM)
            self.entryflow_conv2 = Conv2DBNActiv(n(32), n(64), 3, 1, 1, **_NORM)
            self.entryflow_block1 = XceptionBlock(n(64), (n(128), n(128), n(128)), stride=2)
            self.entryflow_block2 = XceptionBlock(n(128), (n(256), n(256), n(256)), stride=2)
            self.entryflow_block3 = XceptionBlock(n(256), (deep, deep, deep))
            self.middleflow = ChainList(
                *(XceptionBlock(deep, (deep, deep, deep), dilate=2, skip="sum") for _ in range(middle_blocks))
            )
            self.exitflow_block1 = XceptionBlock(deep, (deep, n(1024), n(1024)), dilate=2)
            self.exitflow_block2 = XceptionBlock(
                n(1024), (n(1536), n(1536), n(2048)), dilate=4, skip="none", activ_first=False
            )

    def forward(self, x: Variable | Array) -> tuple[Variable, Variable]:
        """(B, channels[0], H / 4, W / 4) and (B, channels[1], H / 8, W / 8), sides rounded up, of x (B, 3, H, W)."""
        h = self.entryflow_conv2(self.entryflow_conv1(x))
        h, _ = self.entryflow_block1(h)
        h, fine = self.entryflow_block2(h)
        h, _ = self.entryflow_block3(h)
        for block in self.middleflow:
            h, _ = block(h)
        h, _ = self.exitflow_block1(h)
        return fine, self.exitflow_block2(h)[0]
