"""The first stage: which anchors hold anything at all."""

from collections.abc import Sequence
from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.array.dtypes import widened
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.conv_2d_activ import Conv2DActiv
from cvzoo.links.connection.convolution_2d import Convolution2D


class FPNRegionProposalNetwork(Chain):
    """`depth` 3 x 3 convolutions with relu, then an objectness and four offsets for each anchor; one for all levels.

    channels: of the maps
    n_anchor: anchors of a place
    """

    def __init__(self, channels: int, n_anchor: int, *, depth: int = 1):
        with self.init_scope():
            self.convs = ChainList(
                *(Conv2DActiv(channels, channels, 3, 1, 1, initialW=Normal(0.01)) for _ in range(depth))
            )
            self.loc = Convolution2D(channels, 4 * n_anchor, 1, initialW=Normal(0.01))
            self.conf = Convolution2D(channels, n_anchor, 1, initialW=Normal(0.01))

    def forward(self, maps: Sequence[Any]) -> tuple[list[Variable], list[Variable]]:
        """Of each level: locs (B, A, 4), dy dx dh dw; confs (B, A), before the sigmoid.

        maps: (B, channels, H, W) each; A runs by row, column and anchor of the place
        """
        locs, confs = [], []
        for h in maps:
            for conv in self.convs:
                h = conv(h)
            locs.append(widened(F.reshape(F.transpose(self.loc(h), (0, 2, 3, 1)), (h.shape[0], -1, 4))))
            confs.append(widened(F.reshape(F.transpose(self.conf(h), (0, 2, 3, 1)), (h.shape[0], -1))))
        return locs, confs
