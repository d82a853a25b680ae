"""The convolutions of ShuffleNetV2."""

from collections.abc import Sequence
from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.model.conv_norm_activ import ConvNormActiv

# width: channels of the first convolution, the three stages and the last convolution (the paper's table 5)
CHANNELS = {
    0.5: (24, 48, 96, 192, 1024),
    1.0: (24, 116, 232, 464, 1024),
    1.5: (24, 176, 352, 704, 1024),
    2.0: (24, 244, 488, 976, 2048),
}
COUNTS = (4, 8, 4)


class ShuffleBlock(Chain):
    """Half of the channels as they are beside half that were looked at again, mixed.

    in_channels: None for out_channels and a stride of 1; else both halves are made of all of x, with a stride of 2
    """

    def __init__(self, out_channels: int, in_channels: int | None = None):
        half = out_channels // 2
        stride, n_in = (1, half) if in_channels is None else (2, in_channels)
        self.half = half
        self.has_stride = in_channels is not None
        with self.init_scope():
            self.beside = self.beside_project = None
            if self.has_stride:
                self.beside = ConvNormActiv(n_in, n_in, 3, 2, groups=n_in, activ=None)
                self.beside_project = ConvNormActiv(n_in, half, 1)
            self.expand = ConvNormActiv(n_in, half, 1)
            self.depthwise = ConvNormActiv(half, half, 3, stride, groups=half, activ=None)
            self.project = ConvNormActiv(half, half, 1)

    def forward(self, x: Any) -> Variable:
        """(B, out_channels, H / stride, W / stride), sides rounded up, of x (B, channels, H, W)."""
        if self.has_stride:
            kept = self.beside_project(self.beside(x))
        else:
            kept, x = F.split_axis(x, 2, 1)
        return F.channel_shuffle(F.concat([kept, self.project(self.depthwise(self.expand(x)))]), 2)


class ShuffleNetV2Extractor(Chain):
    """What a ShuffleNetV2 makes of photos: the maps of its three stages (strides 8, 16, 32) and its last convolution.

    channels: of the first convolution, the three stages (even numbers) and the last convolution
    counts: blocks of each stage

    Raises ValueRangeError for channels or counts of no network.
    Source: Ma et al., ShuffleNet V2: Practical Guidelines for Efficient CNN Architecture Design, ECCV 2018.
    """

    def __init__(self, channels: Sequence[int] = CHANNELS[1.0], counts: Sequence[int] = COUNTS):
        if len(channels) != 5 or len(counts) != 3 or min(*channels, *counts) < 1 or any(c % 2 for c in channels[1:4]):
            raise ValueRangeError(
                "ShuffleNetV2: channels and counts",
                expected="five numbers, of which the middle three are even, and three",
                got=f"{tuple(channels)}, {tuple(counts)}",
            )
        self.channels = tuple(channels[1:])
        with self.init_scope():
            self.stem = ConvNormActiv(3, channels[0], 3, 2)
            self.stages = ChainList()
            for n_in, n, count in zip(channels, channels[1:], counts):
                blocks = [ShuffleBlock(n, n_in), *(ShuffleBlock(n) for _ in range(count - 1))]
                self.stages.append(ChainList(*blocks))
            self.last = ConvNormActiv(channels[3], channels[4], 1)

    def forward(self, x: Any) -> tuple[Variable, ...]:
        """Four maps (B, channels[i], H / stride, W / stride), sides rounded up, of x (B, 3, H, W)."""
        h = F.max_pooling_2d(self.stem(x), 3, 2, 1, cover_all=False)
        maps = []
        for stage in self.stages:
            for block in stage:
                h = block(h)
            maps.append(h)
        return (*maps, self.last(h))
