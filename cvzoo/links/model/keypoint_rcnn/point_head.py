"""The third head of a model of poses: where in a region each point lies."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.deconvolution_2d import Deconvolution2D
from cvzoo.links.model.faster_rcnn_fpn.box_head import region_conv
from cvzoo.links.model.keypoint_rcnn.config import PointHeadConfig


class PointHead(Chain):
    """Convolutions, a transposed one that doubles the sides, and an enlargement that doubles them again."""

    rows_vary = True

    def __init__(self, in_channels: int, settings: PointHeadConfig):
        s = settings
        with self.init_scope():
            self.convs = ChainList()
            width = in_channels
            for _ in range(s.depth):
                self.convs.append(region_conv(width, s.channels, None))
                width = s.channels
            self.out = Deconvolution2D(width, s.n_point, 4, 2, 1, initialW=Normal((2 / (16 * s.n_point)) ** 0.5))

    def forward(self, x: Any) -> Variable:
        """(R, n_point, 4 * size, 4 * size): scores of every place; x: (R, in_channels, size, size)."""
        for conv in self.convs:
            x = conv(x)
        h = self.out(x)
        return F.resize_images(h, (2 * h.shape[2], 2 * h.shape[3]), align_corners=False)
