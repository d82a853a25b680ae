"""Convolution and transposed convolution layers over any number of axes."""

from collections.abc import Sequence

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.connection.convolution_nd import convolution_nd, deconvolution_nd, each_axis
from cvzoo.initializers.normal import LeCunNormal
from cvzoo.links.link import InitialValue, Link
from cvzoo.typing.aliases import Array

Sizes = int | Sequence[int]


class ConvolutionND(Link):
    """Convolution over `ndim` axes: 1 for sequences, 3 for videos and volumes.

    in_channels: None: inferred from the first input
    ksize, stride, pad, dilate: a number, or one for each axis
    nobias: no `b`
    initialW: initial W (out_channels, in_channels / groups, K1, ..., KN); LeCunNormal by default
    initial_bias: initial b (out_channels,); 0 by default
    cover_all: output sizes are rounded up, so that every pixel is covered
    groups: number of groups of channels that are convolved separately
    Raises DtypeError, ValueRangeError or ShapeError for invalid settings.
    """

    def __init__(
        self,
        ndim: int,
        in_channels: int | None,
        out_channels: int,
        ksize: Sizes,
        stride: Sizes = 1,
        pad: Sizes = 0,
        nobias: bool = False,
        initialW: InitialValue = None,
        initial_bias: InitialValue = None,
        cover_all: bool = False,
        *,
        dilate: Sizes = 1,
        groups: int = 1,
    ):
        super().__init__()
        self.ksize = each_axis(ksize, ndim, name="ksize", function="ConvolutionND")
        self.stride = each_axis(stride, ndim, name="stride", function="ConvolutionND")
        self.pad = each_axis(pad, ndim, name="pad", function="ConvolutionND")
        self.dilate = each_axis(dilate, ndim, name="dilate", function="ConvolutionND")
        self.cover_all = cover_all
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
                f"ConvolutionND: {in_channels} channels in and {self.out_channels} out do not divide into groups",
                expected=f"multiples of groups={self.groups}",
            )
        self.W.initialize((self.out_channels, in_channels // self.groups, *self.ksize))

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, O1, ..., ON) of x (B, in_channels, D1, ..., DN)."""
        if not self.W.is_initialized:
            self._initialize(x.shape[1])
        return convolution_nd(x, self.W, self.b, self.stride, self.pad, self.cover_all, self.dilate, self.groups)


def Convolution1D(
    in_channels: int | None,
    out_channels: int,
    ksize: Sizes,
    stride: Sizes = 1,
    pad: Sizes = 0,
    nobias: bool = False,
    initialW: InitialValue = None,
    initial_bias: InitialValue = None,
    cover_all: bool = False,
) -> ConvolutionND:
    """A `ConvolutionND` of one axis."""
    return ConvolutionND(1, in_channels, out_channels, ksize, stride, pad, nobias, initialW, initial_bias, cover_all)


def Convolution3D(
    in_channels: int | None,
    out_channels: int,
    ksize: Sizes,
    stride: Sizes = 1,
    pad: Sizes = 0,
    nobias: bool = False,
    initialW: InitialValue = None,
    initial_bias: InitialValue = None,
    cover_all: bool = False,
) -> ConvolutionND:
    """A `ConvolutionND` of three axes."""
    return ConvolutionND(3, in_channels, out_channels, ksize, stride, pad, nobias, initialW, initial_bias, cover_all)


class DeconvolutionND(Link):
    """Transposed convolution over `ndim` axes.

    in_channels: None: inferred from the first input
    ksize, stride, pad, dilate: of the convolution that it is the transpose of; a number, or one for each axis
    nobias: no `b`
    outsize: (O1, ..., ON) of the output, which the stride leaves ambiguous
    initialW: initial W (in_channels, out_channels / groups, K1, ..., KN); LeCunNormal by default
    initial_bias: initial b (out_channels,); 0 by default
    groups: number of groups of channels that are convolved separately
    Raises DtypeError, ValueRangeError or ShapeError for invalid settings.
    """

    def __init__(
        self,
        ndim: int,
        in_channels: int | None,
        out_channels: int,
        ksize: Sizes,
        stride: Sizes = 1,
        pad: Sizes = 0,
        nobias: bool = False,
        outsize: Sequence[int] | None = None,
        initialW: InitialValue = None,
        initial_bias: InitialValue = None,
        dilate: Sizes = 1,
        groups: int = 1,
    ):
        super().__init__()
        self.ksize = each_axis(ksize, ndim, name="ksize", function="DeconvolutionND")
        self.stride = each_axis(stride, ndim, name="stride", function="DeconvolutionND")
        self.pad = each_axis(pad, ndim, name="pad", function="DeconvolutionND")
        self.dilate = each_axis(dilate, ndim, name="dilate", function="DeconvolutionND")
        self.outsize = outsize
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
                f"DeconvolutionND: {in_channels} channels in and {self.out_channels} out do not divide into groups",
                expected=f"multiples of groups={self.groups}",
            )
        self.W.initialize((in_channels, self.out_channels // self.groups, *self.ksize))

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, O1, ..., ON) of x (B, in_channels, D1, ..., DN)."""
        if not self.W.is_initialized:
            self._initialize(x.shape[1])
        return deconvolution_nd(x, self.W, self.b, self.stride, self.pad, self.outsize, self.dilate, self.groups)


def Deconvolution1D(
    in_channels: int | None,
    out_channels: int,
    ksize: Sizes,
    stride: Sizes = 1,
    pad: Sizes = 0,
    nobias: bool = False,
    outsize: Sequence[int] | None = None,
    initialW: InitialValue = None,
    initial_bias: InitialValue = None,
    dilate: Sizes = 1,
    groups: int = 1,
) -> DeconvolutionND:
    """A `DeconvolutionND` of one axis."""
    return DeconvolutionND(
        1, in_channels, out_channels, ksize, stride, pad, nobias, outsize, initialW, initial_bias, dilate, groups
    )


def Deconvolution3D(
    in_channels: int | None,
    out_channels: int,
    ksize: Sizes,
    stride: Sizes = 1,
    pad: Sizes = 0,
    nobias: bool = False,
    outsize: Sequence[int] | None = None,
    initialW: InitialValue = None,
    initial_bias: InitialValue = None,
    dilate: Sizes = 1,
    groups: int = 1,
) -> DeconvolutionND:
    """A `DeconvolutionND` of three axes."""
    return DeconvolutionND(
        3, in_channels, out_channels, ksize, stride, pad, nobias, outsize, initialW, initial_bias, dilate, groups
    )
