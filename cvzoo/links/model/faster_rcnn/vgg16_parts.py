"""VGG16 taken apart: its convolutions, and its fully connected layers as a head for regions."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import HeNormal, Normal
from cvzoo.links.chain import Chain
from cvzoo.links.connection.conv_2d_activ import Conv2DActiv
from cvzoo.links.connection.linear import Linear

_STAGES = (2, 2, 3, 3, 3)


class VGG16Convolutions(Chain):
    """conv1_1 to conv5_3, with a pooling before each stage but the first: stride 16, sides rounded up.

    base_channels: of the first stage; then twice, four and eight times, and eight times as many

    Source: Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image Recognition", 2015.
    """

    def __init__(self, base_channels: int = 64):
        widths = [base_channels * n for n in (1, 2, 4, 8, 8)]
        self.channels = widths[-1]
        names, n_in = [], 3
        layers = []
        for stage, (width, count) in enumerate(zip(widths, _STAGES), start=1):
            for i in range(1, count + 1):
                names.append(f"conv{stage}_{i}")
                layers.append(Conv2DActiv(n_in, width, 3, 1, 1, initialW=HeNormal()))
                n_in = width
        for name, layer in zip(names, layers):
            self.add_link(name, layer)
        self._stages = tuple(tuple(name for name in names if name.startswith(f"conv{stage}_")) for stage in range(1, 6))

    def forward(self, x: Any) -> Variable:
        """(B, 8 * base_channels, H / 16, W / 16) of x (B, 3, H, W)."""
        for i, names in enumerate(self._stages):
            if i:
                x = F.max_pooling_2d(x, 2)
            for name in names:
                x = self[name](x)
        return x


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
