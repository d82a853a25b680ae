"""Deformable convolution layer."""

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.connection.deformable_convolution_2d_sampler import deformable_convolution_2d_sampler
from cvzoo.initializers.normal import LeCunNormal
from cvzoo.links.chain import Chain
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.link import InitialValue, Link
from cvzoo.shapes.check import pair
from cvzoo.typing.aliases import Array

Sizes = int | tuple[int, int]


class DeformableFilters(Link):
    """W (out_channels, in_channels, KH, KW) and b of a convolution, and its forward of x and offsets."""

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: Sizes,
        stride: Sizes = 1,
        pad: Sizes = 0,
        nobias: bool = False,
        initialW: InitialValue = None,
        initial_bias: InitialValue = None,
    ):
        super().__init__()
        self.ksize = pair(ksize, name="ksize", function="DeformableConvolution2D")
        self.stride = stride
        self.pad = pad
        self.out_channels = out_channels
        with self.init_scope():
            self.W = Parameter(LeCunNormal() if initialW is None else initialW)
            if in_channels is not None:
                self.W.initialize((out_channels, in_channels, *self.ksize))
            self.b = None if nobias else Parameter(0 if initial_bias is None else initial_bias, out_channels)

    def forward(self, x: Variable | Array, offset: Variable | Array) -> Variable:
        """(B, out_channels, OH, OW) of x (B, in_channels, H, W) and offset (B, 2 * KH * KW, OH, OW)."""
        if not self.W.is_initialized:
            self.W.initialize((self.out_channels, x.shape[1], *self.ksize))
        return deformable_convolution_2d_sampler(x, offset, self.W, self.b, self.stride, self.pad)


class DeformableConvolution2D(Chain):
    """Deformable convolution (Dai et al., 2017): sampling locations are shifted by learned offsets.

    in_channels: None: inferred from the first input
    ksize, stride, pad: a number, or (rows, columns)
    offset_nobias, offset_initialW, offset_initial_bias: of the convolution that predicts the offsets, `offset_conv`;
        its filters and biases are initially 0, so that the layer begins as a `Convolution2D`
    deform_nobias, deform_initialW, deform_initial_bias: of the filters themselves, `deform_conv`; LeCunNormal and 0

    Source: Dai et al., "Deformable convolutional networks", ICCV 2017. Names are Chainer's. Where we differ: in
    Chainer's, the filters are initially 0 and the offsets are not.
    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: Sizes,
        stride: Sizes = 1,
        pad: Sizes = 0,
        offset_nobias: bool = False,
        offset_initialW: InitialValue = None,
        offset_initial_bias: InitialValue = None,
        deform_nobias: bool = False,
        deform_initialW: InitialValue = None,
        deform_initial_bias: InitialValue = None,
    ):
        super().__init__()
        kh, kw = pair(ksize, name="ksize", function="DeformableConvolution2D")
        start = 0 if offset_initialW is None else offset_initialW
        with self.init_scope():
            self.offset_conv = Convolution2D(
                in_channels, 2 * kh * kw, (kh, kw), stride, pad, offset_nobias, start, offset_initial_bias
            )
            self.deform_conv = DeformableFilters(
                in_channels, out_channels, ksize, stride, pad, deform_nobias, deform_initialW, deform_initial_bias
            )

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, OH, OW) of x (B, in_channels, H, W)."""
        return self.deform_conv(x, self.offset_conv(x))
