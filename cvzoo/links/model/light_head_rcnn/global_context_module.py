"""Convolutions with large kernels, in two strokes."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain
from cvzoo.links.connection.convolution_2d import Convolution2D


class GlobalContextModule(Chain):
    """relu(col(col_max(x)) + row(row_max(x))): k x 1 then 1 x k, and 1 x k then k x 1.

    in_channels, mid_channels, out_channels: before, between and after the strokes
    ksize: k, odd: the size stays
    initialW: what the weights start from; Normal(0.01) by default

    Source: Li et al., "Light-Head R-CNN: In Defense of Two-Stage Object Detector", 2017, section 3.2; the names are
    those of ChainerCV's files.
    """

    def __init__(self, in_channels: int, mid_channels: int, out_channels: int, ksize: int, *, initialW: Any = None):
        initialW = Normal(0.01) if initialW is None else initialW
        pad = (ksize - 1) // 2
        tall, wide = ((ksize, 1), 1, (pad, 0)), ((1, ksize), 1, (0, pad))
        with self.init_scope():
            self.col_max = Convolution2D(in_channels, mid_channels, *tall, initialW=initialW)
            self.col = Convolution2D(mid_channels, out_channels, *wide, initialW=initialW)
            self.row_max = Convolution2D(in_channels, mid_channels, *wide, initialW=initialW)
            self.row = Convolution2D(mid_channels, out_channels, *tall, initialW=initialW)

    def forward(self, x: Any) -> Variable:
        """(B, out_channels, H, W) of x (B, in_channels, H, W)."""
        return F.relu(self.col(self.col_max(x)) + self.row(self.row_max(x)))
