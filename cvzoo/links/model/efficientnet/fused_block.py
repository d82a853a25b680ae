"""EfficientNetV2's block for the first stages."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain
from cvzoo.links.model.conv_norm_activ import ConvNormActiv


class FusedInvertedResidual(Chain):
    """project(expand(x)), plus x where the shapes allow: one full convolution instead of two.

    expanded: channels of `expand`; where it is in_channels, `expand` gives out_channels and there is no `project`
    ksize, stride: of `expand`
    drop: how often the block is left out while training, where x is added

    Source: Tan and Le, EfficientNetV2, ICML 2021.
    """

    def __init__(
        self,
        in_channels: int,
        expanded: int,
        out_channels: int,
        ksize: int = 3,
        stride: int = 1,
        *,
        drop: float = 0.0,
        eps: float = 1e-3,
        decay: float = 0.9,
    ):
        self.has_shortcut = stride == 1 and in_channels == out_channels
        self.drop = drop
        one = expanded == in_channels
        common = {"eps": eps, "decay": decay}
        with self.init_scope():
            self.expand = ConvNormActiv(
                in_channels, out_channels if one else expanded, ksize, stride, activ=F.silu, **common
            )
            self.project = None if one else ConvNormActiv(expanded, out_channels, 1, activ=None, **common)

    def forward(self, x: Any) -> Variable:
        """(B, out_channels, H / stride, W / stride), sides rounded up, of x (B, in_channels, H, W)."""
        h = self.expand(x)
        if self.has_shortcut and self.project is not None and not self.drop:
            return self.project(h, x)
        h = h if self.project is None else self.project(h)
        return F.stochastic_depth(h, self.drop) + x if self.has_shortcut else h
