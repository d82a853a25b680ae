"""What ESPNet is made of: a bottleneck that looks near and far at once."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import HeNormal
from cvzoo.links.chain import Chain
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_convolution import can_fold, fused_convolution
from cvzoo.links.connection.prelu import PReLU

EPS = 1e-3
DILATIONS = (1, 2, 4, 8, 16)


class NormPReLU(Chain):
    """prelu(bn(x)), a slope a channel."""

    def __init__(self, channels: int):
        with self.init_scope():
            self.bn = BatchNormalization(channels, eps=EPS)
            self.act = PReLU((channels,))

    def forward(self, x: Any) -> Variable:
        """x's shape; x is (B, channels, H, W)."""
        return self.act(self.bn(x))


class ConvNormPReLU(Chain):
    """prelu(bn(conv(x))), 3 x 3."""

    def __init__(self, in_channels: int, out_channels: int, stride: int = 1):
        with self.init_scope():
            self.conv = Convolution2D(in_channels, out_channels, 3, stride, 1, nobias=True, initialW=HeNormal())
            self.bn = BatchNormalization(out_channels, eps=EPS)
            self.act = PReLU((out_channels,))

    def forward(self, x: Any) -> Variable:
        """(B, out_channels, H / stride, W / stride), sides rounded up, of x (B, in_channels, H, W)."""
        if can_fold(self.conv, self.bn):
            return self.act(fused_convolution(self.conv, self.bn)(x))
        return self.act(self.bn(self.conv(x)))


class ESPBlock(Chain):
    """Reduce, look with five dilations, sum up from near to far, join: (B, out_channels, H / stride, W / stride).

    stride: 2: the reducing convolution is 3 x 3 and halves the sides, which are rounded up; 1: it is 1 x 1
    add: whether x is added to what is joined (for out_channels = in_channels and stride 1)
    """

    def __init__(self, in_channels: int, out_channels: int, *, stride: int = 1, add: bool = True):
        n = out_channels // len(DILATIONS)
        first = out_channels - (len(DILATIONS) - 1) * n  # the nearest look takes what division leaves
        ksize = 3 if stride == 2 else 1
        self.add = add
        with self.init_scope():
            self.reduce = _conv(in_channels, n, ksize, stride)
            self.d1 = _conv(n, first, 3, dilate=1)
            self.d2 = _conv(n, n, 3, dilate=2)
            self.d4 = _conv(n, n, 3, dilate=4)
            self.d8 = _conv(n, n, 3, dilate=8)
            self.d16 = _conv(n, n, 3, dilate=16)
            self.norm = NormPReLU(out_channels)

    def forward(self, x: Any) -> Variable:
        """As the class says, of x (B, in_channels, H, W)."""
        h = self.reduce(x)
        looks = [self.d1(h), self.d2(h)]
        for far in (self.d4, self.d8, self.d16):
            looks.append(looks[-1] + far(h))  # against the grid that a lone dilated convolution leaves
        joined = F.concat(looks, axis=1)
        return self.norm(joined + x if self.add else joined)


def _conv(in_channels: int, out_channels: int, ksize: int, stride: int = 1, *, dilate: int = 1) -> Convolution2D:
    pad = ksize // 2 * dilate
    return Convolution2D(in_channels, out_channels, ksize, stride, pad, nobias=True, initialW=HeNormal(), dilate=dilate)
