"""Convolution layers, the depthwise one among them."""

from collections.abc import Sequence

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.connection.convolution_2d import convolution_2d
from cvzoo.functions.connection.depthwise_convolution_2d import depthwise_convolution_2d
from cvzoo.initializers.normal import LeCunNormal
from cvzoo.links.connection.layer_kernel import AbstractLayerKernel
from cvzoo.links.link import InitialValue, Link
from cvzoo.shapes.check import pair
from cvzoo.typing.aliases import Array


def channels_and_ksize(
    in_channels: int | None, out_channels: int, ksize: int | tuple[int, int] | None, layer: str
) -> tuple[int | None, int, int | tuple[int, int]]:
    """in_channels, out_channels and ksize of a layer that also takes (out_channels, ksize), as Chainer's do.

    in_channels is then None: it is inferred from the first input. Raises ValueRangeError if ksize is missing.
    """
    if ksize is not None:
        return in_channels, out_channels, ksize
    if in_channels is None:
        raise ValueRangeError(f"{layer} needs a ksize", expected=f"{layer}(in_channels, out_channels, ksize)")
    return None, in_channels, out_channels


class Convolution2D(Link):
    """2D convolution (cross-correlation) of images by out_channels filters.

    in_channels: None: inferred from the first input
    ksize, stride, dilate: a number, or (rows, columns)
    pad: a number, (rows, columns), or (top, bottom, left, right)
    nobias: no `b`
    initialW: initial W (out_channels, in_channels / groups, KH, KW); LeCunNormal by default
    initial_bias: initial b (out_channels,); 0 by default
    groups: number of groups of channels that are convolved separately
    """

    kernel: AbstractLayerKernel | None = None

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: int | tuple[int, int] | None = None,
        stride: int | tuple[int, int] = 1,
        pad: int | Sequence[int] = 0,
        nobias: bool = False,
        initialW: InitialValue = None,
        initial_bias: InitialValue = None,
        *,
        dilate: int | tuple[int, int] = 1,
        groups: int = 1,
    ):
        in_channels, out_channels, ksize = channels_and_ksize(in_channels, out_channels, ksize, "Convolution2D")
        self.ksize = pair(ksize, name="ksize", function="Convolution2D")
        self.stride = stride
        self.pad = pad
        self.dilate = dilate
        self.groups = groups
        self.out_channels = out_channels
        with self.init_scope():
            self.W = Parameter(LeCunNormal() if initialW is None else initialW)
            if in_channels is not None:
                self._initialize(in_channels)
            self.b = None if nobias else Parameter(0 if initial_bias is None else initial_bias, out_channels)

    def _initialize(self, in_channels: int) -> None:
        if in_channels % self.groups or self.out_channels % self.groups:
            raise ShapeError(
                f"Convolution2D: {in_channels} channels in and {self.out_channels} out do not divide into groups",
                expected=f"multiples of groups={self.groups}",
            )
        self.W.initialize((self.out_channels, in_channels // self.groups, *self.ksize))

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, OH, OW) of x (B, in_channels, H, W)."""
        if not self.W.is_initialized:
            self._initialize(x.shape[1])
        if self.kernel is not None:
            return self.kernel.convolve(self, None, x)
        return convolution_2d(x, self.W, self.b, self.stride, self.pad, dilate=self.dilate, groups=self.groups)

    def describe(self) -> str:
        settings = f"W={self.W.shape}, stride={self.stride}, pad={self.pad}"
        settings += f", dilate={self.dilate}" if self.dilate not in (1, (1, 1)) else ""
        settings += f", groups={self.groups}" if self.groups > 1 else ""
        return settings + (", nobias" if self.b is None else "")


class DepthwiseConvolution2D(Link):
    """Filters each channel `channel_multiplier` times; the outputs of one channel are adjacent.

    in_channels: None: inferred from the first input
    ksize, stride: a number, or (rows, columns)
    pad: a number, (rows, columns), or (top, bottom, left, right)
    nobias: no `b`
    initialW: initial W (channel_multiplier, in_channels, KH, KW); LeCunNormal by default
    initial_bias: initial b (in_channels * channel_multiplier,); 0 by default
    """

    def __init__(
        self,
        in_channels: int | None,
        channel_multiplier: int,
        ksize: int | tuple[int, int],
        stride: int | tuple[int, int] = 1,
        pad: int | Sequence[int] = 0,
        nobias: bool = False,
        initialW: InitialValue = None,
        initial_bias: InitialValue = None,
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

    def forward(self, x: Variable | Array) -> Variable:
        """(B, in_channels * channel_multiplier, OH, OW) of x (B, in_channels, H, W)."""
        if not self.W.is_initialized:
            self._initialize(x.shape[1])
        return depthwise_convolution_2d(x, self.W, self.b, self.stride, self.pad)
