"""The part of a ConvNeXt that makes maps."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.layer_normalization_2d import LayerNormalization2D
from cvzoo.links.model.convnext.block import ConvNeXtBlock
from cvzoo.links.model.convnext.plan import Plan


class ConvNeXtStem(Chain):
    """norm(conv(x)): 4 x 4 pixels become one."""

    def __init__(self, n_channel: int):
        with self.init_scope():
            self.conv = Convolution2D(3, n_channel, 4, 4, initialW=Normal(0.02))
            self.norm = LayerNormalization2D(n_channel)

    def forward(self, x: Any) -> Variable:
        return self.norm(self.conv(x))


class ConvNeXtDown(Chain):
    """conv(norm(x)): 2 x 2 pixels become one."""

    def __init__(self, in_channels: int, out_channels: int):
        with self.init_scope():
            self.norm = LayerNormalization2D(in_channels)
            self.conv = Convolution2D(in_channels, out_channels, 2, 2, initialW=Normal(0.02))

    def forward(self, x: Any) -> Variable:
        return self.conv(self.norm(x))


class ConvNeXtExtractor(Chain):
    """(C2, C3, C4, C5) of a photo: maps at 1/4, 1/8, 1/16 and 1/32 of its size.

    plan: how deep and wide
    channels: of the four maps
    """

    def __init__(self, plan: Plan):
        self.channels = plan.channels
        n_block = sum(plan.depths)
        rates = iter([plan.drop_path * i / max(n_block - 1, 1) for i in range(n_block)])
        with self.init_scope():
            self.stem = ConvNeXtStem(plan.channels[0])
            for i, (n_channel, depth) in enumerate(zip(plan.channels, plan.depths)):
                if i:
                    self.add_link(f"down{i + 2}", ConvNeXtDown(plan.channels[i - 1], n_channel))
                blocks = [ConvNeXtBlock(n_channel, next(rates)) for _ in range(depth)]
                self.add_link(f"res{i + 2}", ChainList(*blocks))

    def stage(self, i: int, x: Any) -> Variable:
        """The map number i (0 to 3) from the one before, or from the stem's."""
        h = self[f"down{i + 2}"](x) if i else x
        for block in self[f"res{i + 2}"]:
            h = block(h)
        return h

    def forward(self, x: Any) -> tuple[Variable, ...]:
        """Four maps, (B, channels[i], H / 4 / 2^i, W / 4 / 2^i), of x (B, 3, H, W)."""
        h = self.stem(x)
        maps = []
        for i in range(4):
            h = self.stage(i, h)
            maps.append(h)
        return tuple(maps)
