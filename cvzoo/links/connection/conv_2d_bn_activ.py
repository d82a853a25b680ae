"""Convolution, batch normalization, activation: the blocks that most backbones are made of."""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import switches
from cvzoo.functions.activation.relu import relu
from cvzoo.links.chain import Chain
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.convolution_2d import Convolution2D, channels_and_ksize
from cvzoo.links.connection.fused_convolution import can_fold, fused_activation, fused_convolution
from cvzoo.typing.aliases import Array


class BNSettings(TypedDict):
    """Arguments of `Conv2DBNActiv` that the layers of a network share."""

    bn_decay: float
    bn_eps: float


class Conv2DActiv(Chain):
    """activ(conv(x)).

    Arguments as in Convolution2D; activ=None: no activation.

    In inference, convolution and relu are fused to one kernel.
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
        in_channels, out_channels, ksize = channels_and_ksize(in_channels, out_channels, ksize, "Conv2DActiv")
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

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, OH, OW) of x (B, in_channels, H, W)."""
        conv = self.conv
        if self.activ is relu and not switches.enable_backprop and conv.W.is_initialized:
            return fused_convolution(conv)(x, activation="relu")
        h = conv(x)
        return h if self.activ is None else self.activ(h)


class Conv2DBNActiv(Chain):
    """activ(bn(conv(x))).

    Arguments as in Convolution2D; `bn_decay`, `bn_eps` go to the batch normalization; activ=None: no activation.

    In inference it is fused to one kernel (an activation that kernels lack excepted).
    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: int | tuple[int, int] | None = None,
        stride: int | tuple[int, int] = 1,
        pad: int | Sequence[int] = 0,
        dilate: int | tuple[int, int] = 1,
        groups: int = 1,
        nobias: bool = True,
        initialW: Any = None,
        initial_bias: Any = None,
        activ: Callable[[Variable], Variable] | None = relu,
        *,
        bn_decay: float = 0.9,
        bn_eps: float = 2e-5,
    ):
        in_channels, out_channels, ksize = channels_and_ksize(in_channels, out_channels, ksize, "Conv2DBNActiv")
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
            self.bn = BatchNormalization(out_channels, decay=bn_decay, eps=bn_eps)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, OH, OW) of x (B, in_channels, H, W)."""
        if can_fold(self.conv, self.bn):
            kernel = fused_activation(self.activ)
            kind, alpha, beta = kernel or (None, 0.0, 0.0)
            h = fused_convolution(self.conv, self.bn)(x, activation=kind, alpha=alpha, beta=beta)
            return h if kernel is not None or self.activ is None else self.activ(h)
        h = self.bn(self.conv(x))
        return h if self.activ is None else self.activ(h)


class SeparableConv2DBNActiv(Chain):
    """pointwise(depthwise(x)), each with batch normalization and activation.

    in_channels, out_channels, ksize, stride, pad, dilate: as in Convolution2D, the last four of the depthwise one
    nobias: no `b` in either convolution
    depthwise_activ, pointwise_activ: None: no activation
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

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, OH, OW) of x (B, in_channels, H, W)."""
        return self.pointwise(self.depthwise(x))
