"""VGG16's fully connected layers as a head for regions."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain
from cvzoo.links.connection.linear import Linear


class VGG16RoIHead(Chain):
    """fc6 and fc7 on what a region holds, then offsets of each class and scores.

    n_class: with the background
    roi_size: a region becomes roi_size x roi_size
    spatial_scale: pixels of the map for one of the network's input
    in_channels, fc_channels: of the map, and of fc6 and fc7
    """

    def __init__(
        self,
        n_class: int,
        roi_size: int = 7,
        spatial_scale: float = 1 / 16,
        *,
        in_channels: int = 512,
        fc_channels: int = 4096,
    ):
        self.n_class = n_class
        self.roi_size = roi_size
        self.spatial_scale = spatial_scale
        with self.init_scope():
            self.fc6 = Linear(in_channels * roi_size * roi_size, fc_channels)
            self.fc7 = Linear(fc_channels, fc_channels)
            self.cls_loc = Linear(fc_channels, n_class * 4, initialW=Normal(0.001))
            self.score = Linear(fc_channels, n_class, initialW=Normal(0.01))

    def forward(self, x: Any, rois: Any, roi_indices: Any) -> tuple[Variable, Variable]:
        """(R, n_class * 4) offsets, (R, n_class) scores before a softmax, of the regions of x (B, C, H, W)."""
        pool = F.roi_max_pooling_2d(x, rois, roi_indices, self.roi_size, self.spatial_scale, inclusive=True)
        h = F.relu(self.fc6(pool))
        h = F.relu(self.fc7(h))
        return self.cls_loc(h), self.score(h)
