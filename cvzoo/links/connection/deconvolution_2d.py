"""A two-dimensional transposed convolution layer."""

from collections.abc import Sequence

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.connection.convolution_2d import deconvolution_2d
from cvzoo.initializers.normal import LeCunNormal
from cvzoo.links.connection.convolution_2d import channels_and_ksize
from cvzoo.links.link import InitialValue, Link
from cvzoo.shapes.check import pair
from cvzoo.typing.aliases import Array


class Deconvolution2D(Link):
    """2D transposed convolution.

    in_channels: None: inferred from the first input
    ksize, stride, dilate: a number, or (rows, columns)
    pad: cropped from the output's borders: a number, (rows, columns), or (top, bottom, left, right)
    nobias: no `b`
    outsize: (H, W) of the output, which the stride leaves ambiguous
    initialW: initial W (in_channels, out_channels / groups, KH, KW); LeCunNormal by default
    initial_bias: initial b (out_channels,); 0 by default
    groups: number of groups of channels that are convolved separately
    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: int | tuple[int, int] | None = None,
        stride: int | tuple[int, int] = 1,
        pad: int | Sequence[int] = 0,
        nobias: bool = False,
        outsize: tuple[int, int] | None = None,
        initialW: InitialValue = None,
        initial_bias: InitialValue = None,
        *,
        dilate: int | tuple[int, int] = 1,
        groups: int = 1,
    ):
        in_channels, out_channels, ksize = channels_and_ksize(in_channels, out_channels, ksize, "Deconvolution2D")
        self.ksize = pair(ksize, name="ksize", function="Deconvolution2D")
        self.stride = stride
        self.pad = pad
        self.outsize = outsize
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
                f"Deconvolution2D: {in_channels} channels in and {self.out_channels} out do not divide into groups",
                expected=f"multiples of groups={self.groups}",
            )
        self.W.initialize((in_channels, self.out_channels // self.groups, *self.ksize))

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, OH, OW) of x (B, in_channels, H, W)."""
        if not self.W.is_initialized:
            self._initialize(x.shape[1])
        return deconvolution_2d(
            x, self.W, self.b, self.stride, self.pad, self.outsize, dilate=self.dilate, groups=self.groups
        )

    def describe(self) -> str:
        return f"W={self.W.shape}, stride={self.stride}, pad={self.pad}" + (", nobias" if self.b is None else "")
