"""A thin map cut by place, and one fully connected layer."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.light_head_rcnn.global_context_module import GlobalContextModule

_THIN = 10  # channels of a cell


class LightHeadRCNNResNet101Head(Chain):
    """Offsets of each class and scores from a thin map.

    n_class: with the background
    roi_size: a region becomes roi_size x roi_size cells of 10 channels of their own
    spatial_scale: pixels of the map for one of the network's input
    in_channels, mid_channels, fc_channels: of C5, between the strokes of the large kernels, and of fc1
    """

    def __init__(
        self,
        n_class: int,
        roi_size: int = 7,
        spatial_scale: float = 1 / 16,
        *,
        in_channels: int = 2048,
        mid_channels: int = 256,
        fc_channels: int = 2048,
    ):
        self.n_class = n_class
        self.roi_size = roi_size
        self.spatial_scale = spatial_scale
        n = _THIN * roi_size * roi_size
        with self.init_scope():
            self.global_context_module = GlobalContextModule(in_channels, mid_channels, n, 15)
            self.fc1 = Linear(n, fc_channels, initialW=Normal(0.01))
            self.score = Linear(fc_channels, n_class, initialW=Normal(0.01))
            self.cls_loc = Linear(fc_channels, 4 * n_class, initialW=Normal(0.001))

    def forward(self, x: Any, rois: Any, roi_indices: Any) -> tuple[Variable, Variable]:
        """(R, n_class * 4) offsets, (R, n_class) scores before a softmax, of the regions of x (B, C, H, W)."""
        h = self.global_context_module(x)
        size = self.roi_size
        pool = F.ps_roi_max_align_2d(h, rois, roi_indices, (_THIN, size, size), self.spatial_scale, size, 2)
        h = F.relu(self.fc1(pool))
        return self.cls_loc(h), self.score(h)
