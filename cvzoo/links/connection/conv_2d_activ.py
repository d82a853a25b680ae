"""Convolution, then activation."""

from collections.abc import Callable, Sequence
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import switches
from cvzoo.functions.activation.relu import relu
from cvzoo.links.chain import Chain
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_convolution import fused_convolution


class Conv2DActiv(Chain):
    """activ(conv(x)).

    Arguments as in Convolution2D; activ=None leaves the values.

    Where no gradients are taken, convolution and relu are one kernel.
    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: int | tuple[int, int] | None = None,
        stride: int | tuple[int, int] = 1,
        pad: int | Sequence[int] = 0,
        dilate: int | tuple[int, int] = 1,
        nobias: bool = False,
        initialW: Any = None,
        initial_bias: Any = None,
        activ: Callable[[Variable], Variable] | None = relu,
        *,
        groups: int = 1,
    ):
        if ksize is None:  # as in Convolution2D: (out_channels, ksize)
            in_channels, out_channels, ksize = None, in_channels, out_channels
        self.activ = activ
        with self.init_scope():
            self.conv = Convolution2D(
                in_channels,
                out_channels,
                ksize,
                stride,
                pad,
                nobias,
                initialW,
                initial_bias,
                dilate=dilate,
                groups=groups,
            )

    def forward(self, x: Any) -> Variable:
        """(B, out_channels, OH, OW) of x (B, in_channels, H, W)."""
        conv = self.conv
        if self.activ is relu and not switches.enable_backprop and conv.W.is_initialized:
            return fused_convolution(conv)(x, activation="relu")
        h = conv(x)
        return h if self.activ is None else self.activ(h)
