"""FCOS's heads, each the same network at every level."""

from collections.abc import Sequence
from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.group_normalization import GroupNormalization
from cvzoo.links.model.ssd.multibox import flat_boxes


class Tower(Chain):
    """`depth` 3 x 3 convolutions of one width, each with group normalization and relu."""

    def __init__(self, channels: int, *, depth: int, groups: int):
        with self.init_scope():
            self.convs, self.norms = ChainList(), ChainList()
            for _ in range(depth):
                self.convs.append(Convolution2D(channels, channels, 3, 1, 1, initialW=Normal(0.01)))
                self.norms.append(GroupNormalization(groups, channels))

    def forward(self, x: Any) -> Variable:
        """x's shape (B, channels, H, W)."""
        for conv, norm in zip(self.convs, self.norms):
            x = F.relu(norm(conv(x)))
        return x


class FCOSHead(Chain):
    """Distances to the sides, classes, and how near to the middle a place is.

    channels: of the maps; n_class: without a background; bias: what the scores of the classes start from
    """

    def __init__(self, channels: int, n_class: int, *, depth: int = 4, groups: int = 32, bias: float = 0.0):
        self.n_class = n_class
        with self.init_scope():
            self.conf_tower = Tower(channels, depth=depth, groups=groups)
            self.conf = Convolution2D(channels, n_class, 3, 1, 1, initialW=Normal(0.01), initial_bias=bias)
            self.loc_tower = Tower(channels, depth=depth, groups=groups)
            self.loc = Convolution2D(channels, 4, 3, 1, 1, initialW=Normal(0.01))
            self.center = Convolution2D(channels, 1, 3, 1, 1, initialW=Normal(0.01))

    def forward(self, maps: Sequence[Any]) -> tuple[Variable, Variable, Variable]:
        """loc (B, A, 4), conf (B, A, n_class), center (B, A, 1): A over all maps, in a map by row and column.

        maps: (B, channels, H, W) each, the finest first
        """
        locs, confs, centers = [], [], []
        for h in maps:
            confs.append(flat_boxes(self.conf(self.conf_tower(h)), self.n_class))
            tower = self.loc_tower(h)
            locs.append(flat_boxes(F.relu(self.loc(tower)), 4))
            centers.append(flat_boxes(self.center(tower), 1))
        return F.concat(locs, axis=1), F.concat(confs, axis=1), F.concat(centers, axis=1)
