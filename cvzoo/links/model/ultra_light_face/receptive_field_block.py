"""A block whose branches look at neighbourhoods of different sizes."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain, Sequential
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DBNActiv


def _conv(n_in: int, n_out: int, ksize: int, dilate: int = 1, *, has_relu: bool = True) -> Conv2DBNActiv:
    pad = dilate * (ksize // 2)
    return Conv2DBNActiv(n_in, n_out, ksize, 1, pad, dilate=dilate, activ=F.relu if has_relu else None, bn_eps=1e-5)


class ReceptiveFieldBlock(Chain):
    """relu(join(branches of x) + shortcut(x)): dilated convolutions of 2, 3 and 5 pixels side by side.

    Source: Liu, Huang and Wang, Receptive Field Block Net, ECCV 2018, in the shape of the published face detector.
    """

    def __init__(self, n_channel: int):
        n = n_channel // 8
        with self.init_scope():
            self.branch0 = Sequential(
                _conv(n_channel, n, 1, has_relu=False), _conv(n, 2 * n, 3), _conv(2 * n, 2 * n, 3, 2, has_relu=False)
            )
            self.branch1 = Sequential(
                _conv(n_channel, n, 1, has_relu=False), _conv(n, 2 * n, 3), _conv(2 * n, 2 * n, 3, 3, has_relu=False)
            )
            self.branch2 = Sequential(
                _conv(n_channel, n, 1, has_relu=False),
                _conv(n, n // 2 * 3, 3),
                _conv(n // 2 * 3, 2 * n, 3),
                _conv(2 * n, 2 * n, 3, 5, has_relu=False),
            )
            self.join = _conv(6 * n, n_channel, 1, has_relu=False)
            self.shortcut = _conv(n_channel, n_channel, 1, has_relu=False)

    def forward(self, x: Any) -> Variable:
        """x's shape; x is (B, n_channel, H, W)."""
        h = F.concat([self.branch0(x), self.branch1(x), self.branch2(x)], axis=1)
        return F.relu(self.join(h) + self.shortcut(x))
