"""A depthwise convolution layer: every channel is filtered by itself."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.connection.depthwise_convolution_2d import depthwise_convolution_2d
from cvzoo.initializers.normal import LeCunNormal
from cvzoo.links.link import Link
from cvzoo.shapes.check import pair


class DepthwiseConvolution2D(Link):
    """Filters each channel `channel_multiplier` times; outputs of one channel stand together.

    in_channels: None to learn it from the first input
    ksize, stride: a number, or (rows, columns)
    pad: a number, (rows, columns), or (top, bottom, left, right)
    nobias: no `b`
    initialW: what W (channel_multiplier, in_channels, KH, KW) starts from; LeCunNormal by default
    initial_bias: what b (in_channels * channel_multiplier,) starts from; 0 by default
    """

    def __init__(
        self,
        in_channels: int | None,
        channel_multiplier: int,
        ksize: int | tuple[int, int],
        stride: int | tuple[int, int] = 1,
        pad: int | Sequence[int] = 0,
        nobias: bool = False,
        initialW: Any = None,
        initial_bias: Any = None,
    ):
        self.channel_multiplier = channel_multiplier
        self.ksize = pair(ksize, name="ksize", function="DepthwiseConvolution2D")
        self.stride = stride
        self.pad = pad
        with self.init_scope():
            self.W = Parameter(LeCunNormal() if initialW is None else initialW)
            self.b = None if nobias else Parameter(0 if initial_bias is None else initial_bias)
        if in_channels is not None:
            self._initialize(in_channels)

    def _initialize(self, in_channels: int) -> None:
        self.W.initialize((self.channel_multiplier, in_channels, *self.ksize))
        if self.b is not None and not self.b.is_initialized:
            self.b.initialize((in_channels * self.channel_multiplier,))

    def forward(self, x: Any) -> Variable:
        """(B, in_channels * channel_multiplier, OH, OW) of x (B, in_channels, H, W)."""
        if not self.W.is_initialized:
            self._initialize(x.shape[1])
        return depthwise_convolution_2d(x, self.W, self.b, self.stride, self.pad)
