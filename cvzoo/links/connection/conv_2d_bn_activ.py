"""Convolution, normalization, activation: the blocks that most networks are made of; and rounding of their channels."""

from collections.abc import Callable, Sequence
from typing import Literal, TypedDict

from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.activation.relu import relu
from cvzoo.functions.array.pad import pad
from cvzoo.initializers.normal import HeNormal
from cvzoo.links.chain import Chain
from cvzoo.links.connection.batch_normalization import BatchNormalization, FrozenBatchNormalization
from cvzoo.links.connection.convolution_2d import Convolution2D, channels_and_ksize
from cvzoo.links.connection.fused_convolution import Activ, can_fold, fused_activation, fused_convolution
from cvzoo.links.connection.group_normalization import GroupNormalization
from cvzoo.links.link import InitialValue, Link
from cvzoo.shapes.check import pair
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
        initialW: InitialValue = None,
        initial_bias: InitialValue = None,
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
        initialW: InitialValue = None,
        initial_bias: InitialValue = None,
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
        depthwise_initialW: InitialValue = None,
        pointwise_initialW: InitialValue = None,
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


Norm = Literal["batch", "frozen", "group"]
NORMS = ("batch", "frozen", "group")


class NormSettings(TypedDict, total=False):
    """Arguments of `ConvNormActiv` that the layers of a network share."""

    norm: Norm
    eps: float
    decay: float


def make_norm(norm: Norm, size: int, eps: float) -> Link:
    """A normalization of `size` channels: "batch", "frozen" (batch normalization with fixed statistics) or "group".

    There are at most 32 groups of at least 8 channels. Raises ValueRangeError for an unknown name.
    """
    if norm == "batch":
        return BatchNormalization(size, eps=eps)
    if norm == "frozen":
        return FrozenBatchNormalization(size, eps=eps)
    if norm == "group":
        groups = next(n for n in (32, 16, 8, 4, 2, 1) if size % n == 0 and (size // n >= 8 or n == 1))
        return GroupNormalization(groups, size, eps=eps)
    raise ValueRangeError("there is no such normalization", expected=" or ".join(map(repr, NORMS)), got=repr(norm))


class ConvNormActiv(Chain):
    """activ(bn(conv(x)) + residual), with same padding.

    norm, eps: as in `make_norm`
    decay: of the running statistics of "batch"
    activ: None: no activation
    pad_end: TensorFlow's "SAME" padding: with a stride, more at the end than at the beginning

    In inference it is fused to one kernel, if the activation is one of `fused_activation`.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        ksize: int,
        stride: int = 1,
        *,
        dilate: int = 1,
        groups: int = 1,
        norm: Norm = "batch",
        eps: float = 1e-5,
        decay: float = 0.9,
        activ: Activ | None = relu,
        pad_end: bool = False,
    ):
        self.activ = activ
        # with a stride of 1 there is no difference
        self.pad_end = pad_end and stride > 1
        with self.init_scope():
            self.conv = Convolution2D(
                in_channels,
                out_channels,
                ksize,
                stride,
                0 if self.pad_end else ksize // 2 * dilate,
                nobias=True,
                initialW=HeNormal(1.0, "fan_out"),  # as torchvision's kaiming_normal_(mode="fan_out")
                dilate=dilate,
                groups=groups,
            )
            self.bn: Link = make_norm(norm, out_channels, eps)
            if isinstance(self.bn, BatchNormalization):
                self.bn.decay = decay

    def forward(self, x: Variable | Array, residual: Variable | Array | None = None) -> Variable:
        """(B, out_channels, OH, OW) of x (B, in_channels, H, W); residual has the result's shape, or is None."""
        if self.pad_end:
            x = _padded(x, self.conv)
        if can_fold(self.conv, self.bn):
            kernel = fused_activation(self.activ)
            kind, alpha, beta = kernel or (None, 0.0, 0.0)
            h = fused_convolution(self.conv, self.bn)(x, add=residual, activation=kind, alpha=alpha, beta=beta)
            return h if kernel is not None or self.activ is None else self.activ(h)
        h = self.bn(self.conv(x))
        h = h if residual is None else h + residual
        return h if self.activ is None else self.activ(h)


def _padded(x: Variable | Array, conv: Convolution2D) -> Variable:
    """x zero-padded for an output of H / stride and W / stride, sides rounded up."""
    widths = []
    strides, dilations = (pair(n, name="stride", function="ConvNormActiv") for n in (conv.stride, conv.dilate))
    for size, ksize, stride, dilate in zip(x.shape[2:], conv.ksize, strides, dilations):
        reach = dilate * (ksize - 1) + 1
        total = max((-(-size // stride) - 1) * stride + reach - size, 0)
        widths.append((total // 2, total - total // 2))
    return pad(x, ((0, 0), (0, 0), *widths), "constant")


def round_channels(n: float, divisor: int = 8) -> int:
    """n rounded to the nearest multiple of divisor, at least divisor, and at most a tenth below n.

    Source: MobileNetV2's published code, whose rounding all mobile networks share.
    """
    rounded = max(divisor, int(n + divisor / 2) // divisor * divisor)
    return rounded if rounded >= 0.9 * n else rounded + divisor
