"""Darknet-53, the backbone of YOLOv3."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.model.yolo.block import block


class ResidualBlock(Chain):
    """x + conv2(conv1(x)): 1x1 to half the channels, 3x3 back."""

    def __init__(self, channels: int, *, initialW: Any = None):
        with self.init_scope():
            self.conv1 = block(channels, channels // 2, 1, initialW=initialW)
            self.conv2 = block(channels // 2, channels, 3, initialW=initialW)

    def forward(self, x: Any) -> Variable:
        """x's shape (B, C, H, W)."""
        return x + self.conv2(self.conv1(x))


class Stage(Chain):
    """Half the size and twice the channels, then residual blocks."""

    def __init__(self, in_channels: int, n_block: int, *, initialW: Any = None):
        with self.init_scope():
            self.down = block(in_channels, 2 * in_channels, 3, 2, initialW=initialW)
            self.blocks = ChainList(*(ResidualBlock(2 * in_channels, initialW=initialW) for _ in range(n_block)))

    def forward(self, x: Any) -> Variable:
        """(B, 2 * C, H / 2, W / 2) of x (B, C, H, W)."""
        h = self.down(x)
        for each in self.blocks:
            h = each(h)
        return h


class Darknet53Extractor(Chain):
    """The 52 convolutions of Darknet-53 before its classifier.

    base_channels: of the first convolution; 32 in the paper, and all others in proportion
    blocks: residual blocks of each of the five stages
    initialW: what the convolutions start from

    `channels` are the maps' channels.
    Source: Redmon and Farhadi, YOLOv3: An Incremental Improvement, 2018, table 1.
    """

    def __init__(self, *, base_channels: int = 32, blocks: Sequence[int] = (1, 2, 8, 8, 4), initialW: Any = None):
        n = base_channels
        n2, n4, n8, n16, n32 = blocks
        self.channels = (8 * n, 16 * n, 32 * n)
        with self.init_scope():
            self.stem = block(3, n, 3, initialW=initialW)
            self.stage2 = Stage(n, n2, initialW=initialW)
            self.stage4 = Stage(2 * n, n4, initialW=initialW)
            self.stage8 = Stage(4 * n, n8, initialW=initialW)
            self.stage16 = Stage(8 * n, n16, initialW=initialW)
            self.stage32 = Stage(16 * n, n32, initialW=initialW)

    def forward(self, x: Any) -> tuple[Variable, Variable, Variable]:
        """(B, channels[i], H / s, W / s) for s = 8, 16, 32, of x (B, 3, H, W)."""
        h8 = self.stage8(self.stage4(self.stage2(self.stem(x))))
        h16 = self.stage16(h8)
        return h8, h16, self.stage32(h16)
