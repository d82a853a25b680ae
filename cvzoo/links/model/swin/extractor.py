"""The part of a Swin Transformer that makes maps."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.layer_normalization_2d import LayerNormalization2D
from cvzoo.links.model.swin.block import EPS, PatchMerging, SwinBlock
from cvzoo.links.model.swin.plan import Plan


class SwinPatches(Chain):
    """norm(conv(x)): 4 x 4 pixels become one patch."""

    def __init__(self, n_channel: int):
        with self.init_scope():
            self.conv = Convolution2D(3, n_channel, 4, 4, initialW=Normal(0.02))
            self.norm = LayerNormalization2D(n_channel, EPS)

    def forward(self, x: Any) -> Variable:
        return self.norm(self.conv(x))


class SwinExtractor(Chain):
    """(C2, C3, C4, C5) of a photo: maps at 1/4, 1/8, 1/16 and 1/32 of its size.

    plan: how deep and wide
    channels: of the maps
    """

    def __init__(self, plan: Plan):
        self.n_stage = len(plan.depths)
        self.channels = tuple([plan.n_channel * 2**i for i in range(self.n_stage)])
        n_block = sum(plan.depths)
        rates = iter([plan.drop_path * i / max(n_block - 1, 1) for i in range(n_block)])
        with self.init_scope():
            self.patches = SwinPatches(plan.n_channel)
            for i, (n_channel, depth, n_head) in enumerate(zip(self.channels, plan.depths, plan.heads)):
                if i:
                    self.add_link(f"merging{i + 1}", PatchMerging(self.channels[i - 1], plan.version))
                blocks = [
                    SwinBlock(
                        n_channel,
                        n_head,
                        plan.window,
                        shifted=k % 2 == 1,
                        drop_path=next(rates),
                        version=plan.version,
                    )
                    for k in range(depth)
                ]
                self.add_link(f"stage{i + 1}", ChainList(*blocks))

    def stage(self, i: int, x: Any) -> Variable:
        """The map number i (from 0) from the one before, or from the patches."""
        h = self[f"merging{i + 1}"](x) if i else x
        for block in self[f"stage{i + 1}"]:
            h = block(h)
        return h

    def forward(self, x: Any) -> tuple[Variable, ...]:
        """Maps (B, channels[i], H / 4 / 2^i, W / 4 / 2^i), rounded up but for the first, of x (B, 3, H, W)."""
        h = self.patches(x)
        maps = []
        for i in range(self.n_stage):
            h = self.stage(i, h)
            maps.append(h)
        return tuple(maps)
