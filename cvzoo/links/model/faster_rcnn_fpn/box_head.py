"""The second stage: what each proposal shows, and where exactly."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.array.dtypes import widened
from cvzoo.initializers.normal import Normal
from cvzoo.initializers.uniform import LeCunUniform
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.conv_2d_activ import Conv2DActiv
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.conv_norm_activ import ConvNormActiv
from cvzoo.links.model.resnet.norm import Norm


class FPNBoxHead(Chain):
    """Convolutions, fully connected layers, then scores of the classes and a box for each of them.

    channels: of the regions
    n_fg_class: number of classes
    size: cells of a region along a side
    n_conv: 3 x 3 convolutions of `channels`, normalized if norm is not None
    n_fc, width: fully connected layers and how many numbers each gives
    """

    rows_vary = True

    def __init__(
        self,
        channels: int,
        n_fg_class: int,
        *,
        size: int = 7,
        n_conv: int = 0,
        n_fc: int = 2,
        width: int = 1024,
        norm: Norm | None = None,
    ):
        with self.init_scope():
            self.convs = ChainList(*(region_conv(channels, channels, norm) for _ in range(n_conv)))
            # a fully connected layer on a region is a convolution with a window of the region's size: so its numbers
            # are read in the order in which they lie in memory
            first = Conv2DActiv(channels, width, size, initialW=LeCunUniform())
            others = (Conv2DActiv(width, width, 1, initialW=LeCunUniform()) for _ in range(n_fc - 1))
            self.fcs = ChainList(first, *others)
            self.loc = Linear(width, 4 * n_fg_class, initialW=Normal(0.001))
            self.conf = Linear(width, n_fg_class + 1, initialW=Normal(0.01))

    def forward(self, x: Any) -> tuple[Variable, Variable]:
        """loc (R, 4 * n_fg_class): dy dx dh dw of each class; conf (R, n_fg_class + 1), background first.

        x: (R, channels, size, size), the regions
        """
        for conv in self.convs:
            x = conv(x)
        for fc in self.fcs:
            x = fc(x)
        x = F.reshape(x, x.shape[:2])
        return widened(self.loc(x)), widened(self.conf(x))


def region_conv(n_in: int, n_out: int, norm: Norm | None) -> Chain:
    """A 3 x 3 convolution with relu, normalized if norm is not None; it starts as He et al. have it."""
    if norm is not None:
        return ConvNormActiv(n_in, n_out, 3, norm=norm)
    return Conv2DActiv(n_in, n_out, 3, 1, 1, initialW=Normal((2 / (9 * n_out)) ** 0.5))
