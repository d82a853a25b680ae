"""SSDLite's heads: offsets and scores for the default boxes of every map, by separable convolutions."""

from collections.abc import Sequence
from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.model.conv_norm_activ import ConvNormActiv
from cvzoo.links.model.ssd.multibox import flat_boxes


class SeparableHead(Chain):
    """3 x 3 of each channel by itself, then 1 x 1 to n_out."""

    def __init__(self, n_in: int, n_out: int, *, eps: float):
        with self.init_scope():
            self.depthwise = ConvNormActiv(n_in, n_in, 3, groups=n_in, activ=F.relu6, eps=eps, decay=0.97)
            self.out = Convolution2D(n_in, n_out, 1, initialW=Normal(0.03))

    def forward(self, x: Any) -> Variable:
        """(B, n_out, H, W) of x (B, n_in, H, W)."""
        return self.out(self.depthwise(x))


class LiteMultibox(Chain):
    """As `Multibox`, with separable convolutions.

    in_channels: of the maps; n_class: with the background; aspect_ratios: of each level, as in `default_boxes`
    """

    def __init__(
        self, in_channels: Sequence[int], n_class: int, aspect_ratios: Sequence[Sequence[float]], *, eps: float
    ):
        self.n_class = n_class
        with self.init_scope():
            self.loc, self.conf = ChainList(), ChainList()
            for n_in, ratios in zip(in_channels, aspect_ratios):
                n_box = 2 + 2 * len(ratios)
                self.loc.append(SeparableHead(n_in, n_box * 4, eps=eps))
                self.conf.append(SeparableHead(n_in, n_box * n_class, eps=eps))

    def forward(self, maps: Sequence[Any]) -> tuple[Variable, Variable]:
        """mb_loc (B, A, 4): dy dx dh dw; mb_conf (B, A, n_class): scores before the softmax, background first."""
        locs = [flat_boxes(loc(h), 4) for loc, h in zip(self.loc, maps)]
        confs = [flat_boxes(conf(h), self.n_class) for conf, h in zip(self.conf, maps)]
        return F.concat(locs, axis=1), F.concat(confs, axis=1)
