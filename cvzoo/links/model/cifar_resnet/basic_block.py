"""A residual block of two 3 x 3 convolutions, without parameters in its shortcut."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DBNActiv
from cvzoo.links.connection.fused_convolution import can_fold, fused_convolution


class BasicBlock(Chain):
    """relu(conv2(conv1(x)) + x).

    Where the stride is 2 the shortcut takes every second pixel, and new channels, half of them in front, are 0
    (option A of the paper).
    """

    def __init__(self, in_channels: int, out_channels: int, stride: int):
        self.stride = stride
        self.n_new = out_channels - in_channels
        with self.init_scope():
            self.conv1 = Conv2DBNActiv(in_channels, out_channels, 3, stride, 1, bn_eps=1e-5)
            self.conv2 = Conv2DBNActiv(out_channels, out_channels, 3, 1, 1, activ=None, bn_eps=1e-5)

    def forward(self, x: Any) -> Variable:
        """(B, out_channels, H / stride, W / stride) of x (B, in_channels, H, W)."""
        h = self.conv1(x)
        if self.stride > 1:
            x = x[:, :, :: self.stride, :: self.stride]
        if self.n_new:
            front = self.n_new // 2
            x = F.pad(x, ((0, 0), (front, self.n_new - front), (0, 0), (0, 0)), "constant")
        last = self.conv2
        if can_fold(last.conv, last.bn):
            return fused_convolution(last.conv, last.bn)(h, add=x, activation="relu")
        return F.relu(last(h) + x)
