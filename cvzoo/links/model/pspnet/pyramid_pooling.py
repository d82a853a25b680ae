"""Means over large parts of a map, beside the map itself."""

from collections.abc import Sequence
from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import ChainList
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DBNActiv


class PyramidPoolingModule(ChainList):
    """x and, for each level of a pyramid, its means over a grid, convolved and enlarged: twice the channels.

    feat_size: (H, W) of the maps that the network is made for; a level's windows have the size that divides it into
        `pyramids` parts, cut off to whole pixels, whatever the size of x
    eps: of the normalizations
    Source: Zhao et al., Pyramid Scene Parsing Network, CVPR 2017.
    """

    def __init__(
        self, in_channels: int, feat_size: Sequence[int], pyramids: Sequence[int] = (6, 3, 2, 1), *, eps: float = 2e-5
    ):
        out_channels = in_channels // len(pyramids)
        super().__init__(*(Conv2DBNActiv(in_channels, out_channels, 1, bn_eps=eps) for _ in pyramids))
        self.ksizes = [tuple(max(1, side // parts) for side in feat_size) for parts in pyramids]

    def forward(self, x: Any) -> Variable:
        """(B, 2 * in_channels, H, W) of x (B, in_channels, H, W)."""
        size = x.shape[2:]
        maps = [x]
        for conv, ksize in zip(self, self.ksizes):
            ksize = tuple(min(k, side) for k, side in zip(ksize, size))  # a smaller map is one window
            maps.append(F.resize_images(conv(F.average_pooling_2d(x, ksize, ksize)), size, align_corners=True))
        return F.concat(maps, axis=1)
