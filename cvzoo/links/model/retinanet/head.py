"""RetinaNet's two heads, each the same network at every level."""

import math
from collections.abc import Sequence
from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import switches
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_convolution import fused_convolution
from cvzoo.links.connection.group_normalization import GroupNormalization


class RetinaNetHead(Chain):
    """`depth` 3 x 3 convolutions with relu, then one that gives `n_out` numbers for each anchor of a place.

    channels: of the maps, and of the convolutions
    n_anchor: anchors of a place
    groups: of group normalizations between convolution and relu; None: there are none
    bias: what the last convolution's bias starts from
    """

    def __init__(
        self,
        channels: int,
        n_anchor: int,
        n_out: int,
        *,
        depth: int = 4,
        groups: int | None = None,
        bias: float = 0.0,
    ):
        self.n_out = n_out
        with self.init_scope():
            self.convs = ChainList()
            self.norms = ChainList()
            for _ in range(depth):
                nobias = groups is not None
                self.convs.append(Convolution2D(channels, channels, 3, 1, 1, nobias, Normal(0.01)))
                if groups is not None:
                    self.norms.append(GroupNormalization(groups, channels))
            self.out = Convolution2D(channels, n_anchor * n_out, 3, 1, 1, initialW=Normal(0.01), initial_bias=bias)

    def forward(self, maps: Sequence[Any]) -> Variable:
        """(B, A, n_out): A over all maps one after another, in a map by row, column and anchor of the place.

        maps: (B, channels, H, W) each
        """
        rows = []
        for h in maps:
            for i, conv in enumerate(self.convs):
                if len(self.norms):
                    h = F.relu(self.norms[i](conv(h)))
                elif switches.enable_backprop:
                    h = F.relu(conv(h))
                else:
                    h = fused_convolution(conv)(h, activation="relu")
            h = self.out(h)
            rows.append(F.reshape(F.transpose(h, (0, 2, 3, 1)), (h.shape[0], -1, self.n_out)))
        return F.concat(rows, axis=1)


def prior_bias(prior: float) -> float:
    """The number of which the sigmoid makes `prior`: the last bias of an untrained network that expects few objects."""
    return -math.log((1 - prior) / prior)
