"""The convolutions of MobileNetV3."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.fused_activation import hard_gate
from cvzoo.links.link import Link
from cvzoo.links.model.conv_norm_activ import ConvNormActiv
from cvzoo.links.model.inverted_residual import InvertedResidual
from cvzoo.links.model.mobilenet_v3.rows import Size, network_plan
from cvzoo.links.model.resnet.norm import Norm
from cvzoo.links.model.round_channels import round_channels


class MobileNetV3Extractor(Chain):
    """What MobileNetV3 makes of photos: the output of every layer, as torchvision counts them (17 large, 13 small).

    size: "large" or "small"
    width, reduced_tail, dilated: as in `network_plan`
    norm, eps: as in `make_norm`

    `stem` is layer 0, `blocks` are layers 1 and on, `last` is the last layer, a convolution of one pixel; `layers`
    holds all of them in order. `channels` and `strides` are those of the outputs. A layer's `expand` (stride of the
    layer before) can be had apart: see `InvertedResidual.after_expand`.
    Raises ValueRangeError for another size or norm.
    Source: Howard et al., Searching for MobileNetV3, ICCV 2019.
    """

    def __init__(
        self,
        size: Size = "large",
        *,
        width: float = 1.0,
        reduced_tail: bool = False,
        dilated: bool = False,
        norm: Norm = "batch",
        eps: float = 1e-3,
    ):
        plan = network_plan(size, width=width, reduced_tail=reduced_tail, dilated=dilated)
        common = {"norm": norm, "eps": eps, "decay": 0.99}
        channels, strides = [plan.stem], [2]
        with self.init_scope():
            self.stem = ConvNormActiv(3, plan.stem, 3, 2, activ=F.hard_swish, **common)
            self.blocks = ChainList()
            for row in plan.rows:
                self.blocks.append(
                    InvertedResidual(
                        channels[-1],
                        row.expanded,
                        row.out_channels,
                        row.ksize,
                        row.stride,
                        dilate=row.dilate,
                        squeezed=round_channels(row.expanded // 4) if row.excite else None,
                        activ=F.hard_swish if row.hard else F.relu,
                        gate=hard_gate,
                        **common,
                    )
                )
                channels.append(row.out_channels)
                strides.append(strides[-1] * (row.stride if row.dilate == 1 else 1))
            self.last = ConvNormActiv(channels[-1], 6 * channels[-1], 1, activ=F.hard_swish, **common)
        self.channels = (*channels, 6 * channels[-1])
        self.strides = (*strides, strides[-1])
        self.hidden = plan.hidden

    @property
    def layers(self) -> tuple[Link, ...]:
        """All layers, in order."""
        return (self.stem, *self.blocks, self.last)

    def forward(self, x: Any) -> tuple[Variable, ...]:
        """Each layer's output (B, channels[i], H / strides[i], W / strides[i]), sides rounded up; x is (B, 3, H, W)."""
        maps = []
        for layer in self.layers:
            x = layer(x)
            maps.append(x)
        return tuple(maps)
