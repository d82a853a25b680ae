"""The convolutions of an EfficientNet."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.model.conv_norm_activ import ConvNormActiv
from cvzoo.links.model.efficientnet.fused_block import FusedInvertedResidual
from cvzoo.links.model.efficientnet.variants import VARIANTS, network_plan
from cvzoo.links.model.inverted_residual import InvertedResidual


class EfficientNetExtractor(Chain):
    """What an EfficientNet makes of photos: the outputs of its stem, its stages and its last convolution.

    variant: "b0" to "b7", "v2_s", "v2_m" or "v2_l"
    width, depth: as in `network_plan`
    drop: how often the last block is left out while training; the first never is, those between in proportion

    `channels` and `strides` are those of the outputs.
    Raises ValueRangeError for another variant.
    Source: Tan and Le, EfficientNet, ICML 2019, and EfficientNetV2, ICML 2021. Where we differ: each variant's eps is
    that of torchvision's file.
    """

    def __init__(
        self, variant: str = "b0", *, width: float | None = None, depth: float | None = None, drop: float = 0.2
    ):
        plan = network_plan(variant, width=width, depth=depth)
        table = VARIANTS[variant]
        common = {"eps": table.eps, "decay": table.decay}
        channels, strides = [plan.stem], [2]
        total, done = sum(stage.count for stage in plan.stages), 0
        with self.init_scope():
            self.stem = ConvNormActiv(3, plan.stem, 3, 2, activ=F.silu, **common)
            self.stages = ChainList()
            for row in plan.stages:
                stage, n_in = ChainList(), channels[-1]
                for i in range(row.count):
                    block = (n_in, row.factor * n_in, row.out_channels, row.ksize, 1 if i else row.stride)
                    often = drop * done / total
                    if row.fused:
                        stage.append(FusedInvertedResidual(*block, drop=often, **common))
                    else:
                        squeezed = max(1, n_in // 4)
                        activs = {"activ": F.silu, "squeeze_activ": F.silu}
                        stage.append(InvertedResidual(*block, squeezed=squeezed, drop=often, **activs, **common))
                    n_in = row.out_channels
                    done += 1
                self.stages.append(stage)
                channels.append(n_in)
                strides.append(strides[-1] * row.stride)
            self.last = ConvNormActiv(channels[-1], plan.last, 1, activ=F.silu, **common)
        self.channels = (*channels, plan.last)
        self.strides = (*strides, strides[-1])

    def forward(self, x: Any) -> tuple[Variable, ...]:
        """Each output (B, channels[i], H / strides[i], W / strides[i]), sides rounded up, for x (B, 3, H, W)."""
        maps = [self.stem(x)]
        for stage in self.stages:
            h = maps[-1]
            for block in stage:
                h = block(h)
            maps.append(h)
        return (*maps, self.last(maps[-1]))
