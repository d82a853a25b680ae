"""A convolution taken apart into a depthwise and a pointwise one."""

from collections.abc import Callable, Sequence
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.activation.relu import relu
from cvzoo.links.chain import Chain
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DBNActiv


class SeparableConv2DBNActiv(Chain):
    """pointwise(depthwise(x)), each with batch normalization and activation.

    in_channels, out_channels, ksize, stride, pad, dilate: as in Convolution2D; the window is the depthwise one's
    nobias: no `b` in both convolutions
    depthwise_activ, pointwise_activ: None leaves the values
    Source: Howard et al., MobileNets, 2017; Chollet, Xception, CVPR 2017 (there without a depthwise activation).
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        ksize: int | tuple[int, int],
        stride: int | tuple[int, int] = 1,
        pad: int | Sequence[int] = 0,
        dilate: int | tuple[int, int] = 1,
        nobias: bool = True,
        *,
        depthwise_initialW: Any = None,
        pointwise_initialW: Any = None,
        depthwise_activ: Callable[[Variable], Variable] | None = relu,
        pointwise_activ: Callable[[Variable], Variable] | None = relu,
        bn_decay: float = 0.9,
        bn_eps: float = 2e-5,
    ):
        with self.init_scope():
            self.depthwise = Conv2DBNActiv(
                in_channels,
                in_channels,
                ksize,
                stride,
                pad,
                dilate=dilate,
                groups=in_channels,
                nobias=nobias,
                initialW=depthwise_initialW,
                activ=depthwise_activ,
                bn_decay=bn_decay,
                bn_eps=bn_eps,
            )
            self.pointwise = Conv2DBNActiv(
                in_channels,
                out_channels,
                1,
                nobias=nobias,
                initialW=pointwise_initialW,
                activ=pointwise_activ,
                bn_decay=bn_decay,
                bn_eps=bn_eps,
            )

    def forward(self, x: Any) -> Variable:
        """(B, out_channels, OH, OW) of x (B, in_channels, H, W)."""
        return self.pointwise(self.depthwise(x))
