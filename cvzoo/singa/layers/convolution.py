"""Convolution layers."""

import math
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ShapeError, UnsupportedError, ValueRangeError
from cvzoo.functions.connection.convolution_2d import convolution_2d
from cvzoo.singa.layers.layer import Layer, check_count, check_input
from cvzoo.singa.layers.windows import Padding, Pair, Sizes, as_padding, as_pair, check_pad_mode, same_padding
from cvzoo.singa.operators.elementwise import relu
from cvzoo.singa.tensor_class import Tensor, apply

_ACTIVATIONS = ("NOTSET", "RELU")


class Conv2d(Layer):
    """2-dimensional convolution (cross-correlation) of images (B, C, H, W).

    Conv2d(out, kernel_size), or Conv2d(in, out, kernel_size[, stride[, padding]]) as older programs write it; the
    input's channels are learned from the first input
    kernel_size, stride: a number or (rows, columns)
    padding: a number, (rows, columns), or (top, bottom, left, right)
    dilation: 1, as in SINGA
    group: number of groups of channels that are convolved separately
    bias: whether b is added
    pad_mode: "NOTSET", or "SAME_UPPER" or "SAME_LOWER", which find `padding` by themselves
    activation: "NOTSET" or "RELU"
    cudnn_prefer, workspace_MB_limit: for cuDNN; not used

    W (out, C / group, KH, KW) starts normal with standard deviation sqrt(2 / (C / group KH KW + out)),
    b (out,) from 0.
    """

    def __init__(
        self,
        nb_kernels: int,
        kernel_size: Any,
        *args: Any,
        stride: Sizes = 1,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        group: int = 1,
        bias: bool = True,
        pad_mode: str = "NOTSET",
        activation: str = "NOTSET",
        cudnn_prefer: str = "fastest",
        workspace_MB_limit: int = 1024,
    ):
        if args:
            nb_kernels, kernel_size = kernel_size, args[0]
        stride = args[1] if len(args) > 1 else stride
        padding = args[2] if len(args) > 2 else padding
        check_pad_mode("Conv2d", pad_mode)
        if activation not in _ACTIVATIONS:
            raise ValueRangeError(f"Conv2d: unknown activation {activation!r}", expected="'NOTSET' or 'RELU'")
        if as_pair(dilation, "dilation") != (1, 1):
            raise UnsupportedError(f"Conv2d: unsupported dilation {dilation}", expected="1, as in SINGA")
        check_count("Conv2d", "nb_kernels", nb_kernels)
        self.nb_kernels = nb_kernels
        self.kernel_size = as_pair(kernel_size, "kernel_size")
        self.stride = as_pair(stride, "stride")
        self.padding = as_padding(padding)
        self.dilation = dilation
        self.group = group
        self.bias = bias
        self.pad_mode = pad_mode
        self.activation = activation

    def initialize(self, x: Tensor) -> None:
        """Create W and b."""
        check_input("Conv2d", x, 4)
        self.in_channels = x.shape[1]
        if self.group < 1 or self.in_channels % self.group or self.nb_kernels % self.group:
            raise ShapeError(
                f"Conv2d: {self.in_channels} channels in and {self.nb_kernels} out do not divide into groups",
                expected=f"multiples of group={self.group}",
            )
        fan_in = self.in_channels // self.group * self.kernel_size[0] * self.kernel_size[1]
        self.W = Tensor((self.nb_kernels, self.in_channels // self.group, *self.kernel_size), stores_grad=True)
        self.W.gaussian(0.0, math.sqrt(2.0 / (fan_in + self.nb_kernels)))
        self.b = Tensor((self.nb_kernels,), stores_grad=True) if self.bias else None

    def forward(self, x: Tensor) -> Tensor:
        """(B, out, OH, OW) of x (B, C, H, W)."""
        check_input("Conv2d", x, 4, self.in_channels)
        padding = self.padding
        if self.pad_mode != "NOTSET":
            padding = same_padding(self.pad_mode, x.shape[2:], self.kernel_size, self.stride)
        y = apply(_convolve, x, self.W, self.b, self.stride, padding, self.group)
        return relu(y) if self.activation == "RELU" else y


def _convolve(x: Tensor, W: Tensor, b: Tensor | None, stride: Pair, padding: Padding, group: int) -> Variable:
    return convolution_2d(x, W, b, stride, tuple(padding), groups=group)


class SeparableConv2d(Layer):
    """Depthwise separable convolution: a depthwise convolution, then a pointwise one (1 x 1).

    SeparableConv2d(out, kernel_size), or SeparableConv2d(in, out, kernel_size[, stride[, padding]])
    """

    def __init__(
        self,
        nb_kernels: int,
        kernel_size: Any,
        *args: Any,
        stride: Sizes = 1,
        padding: Sizes = 0,
        bias: bool = False,
    ):
        if args:
            nb_kernels, kernel_size = kernel_size, args[0]
        self.nb_kernels = nb_kernels
        self.kernel_size = kernel_size
        self.stride = args[1] if len(args) > 1 else stride
        self.padding = args[2] if len(args) > 2 else padding
        self.bias = bias

    def initialize(self, x: Tensor) -> None:
        """Create the two convolutions."""
        self.in_channels = x.shape[1]
        self.depthwise_conv = Conv2d(
            self.in_channels,
            self.kernel_size,
            stride=self.stride,
            padding=self.padding,
            group=self.in_channels,
            bias=self.bias,
        )
        self.point_conv = Conv2d(self.nb_kernels, 1, bias=self.bias)

    def forward(self, x: Tensor) -> Tensor:
        """(B, out, OH, OW) of x (B, C, H, W)."""
        return self.point_conv(self.depthwise_conv(x))
