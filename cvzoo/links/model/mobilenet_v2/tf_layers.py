"""Convolutions with TensorFlow's padding, and MobileNetV2's block of them."""

from collections.abc import Callable, Sequence
from typing import Literal

import cvzoo.functions as F
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.activation.relu import relu
from cvzoo.links.chain import Chain
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.conv_2d_bn_activ import BNSettings
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.link import InitialValue
from cvzoo.shapes.check import pair
from cvzoo.typing.aliases import Array

TFPad = int | Sequence[int] | Literal["SAME", "VALID"]
Activ = Callable[[Variable], Variable]


class TFConvolution2D(Chain):
    """A `Convolution2D` with TensorFlow's padding.

    pad: "SAME": zeros for an output of ceil(side / stride), an odd one below and to the right; "VALID":
        none; anything else and all other arguments: as in `Convolution2D`
    Raises ValueRangeError for any other string.

    Where we differ from ChainerCV's layer of this name: padding takes the dilation into account, as in TensorFlow.
    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: int | tuple[int, int] | None = None,
        stride: int | tuple[int, int] = 1,
        pad: TFPad = "SAME",
        nobias: bool = False,
        initialW: InitialValue = None,
        initial_bias: InitialValue = None,
        *,
        dilate: int | tuple[int, int] = 1,
        groups: int = 1,
    ):
        if isinstance(pad, str) and pad not in ("SAME", "VALID"):
            raise ValueRangeError(
                "TFConvolution2D: pad is invalid", expected="'SAME', 'VALID' or integers", got=repr(pad)
            )
        self.is_same = pad == "SAME"
        own_pad: int | Sequence[int] = 0 if isinstance(pad, str) else pad
        settings = (stride, own_pad, nobias, initialW, initial_bias)
        with self.init_scope():
            self.conv = Convolution2D(in_channels, out_channels, ksize, *settings, dilate=dilate, groups=groups)

    @property
    def W(self) -> Parameter:
        """The convolution's parameter."""
        return self.conv.W

    @property
    def b(self) -> Parameter | None:
        """The convolution's parameter."""
        return self.conv.b

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, OH, OW) of x (B, in_channels, H, W)."""
        if self.is_same:
            missing = [
                max((-(-side // stride) - 1) * stride + (ksize - 1) * dilate + 1 - side, 0)
                for side, ksize, stride, dilate in zip(x.shape[2:], self.conv.ksize, *self._steps())
            ]
            if any(missing):
                # TensorFlow puts the odd pixel at the end
                x = F.pad(x, ((0, 0), (0, 0), *((each // 2, each - each // 2) for each in missing)), "constant")
        return self.conv(x)

    def _steps(self) -> tuple[tuple[int, int], tuple[int, int]]:
        name = "TFConvolution2D"
        return (
            pair(self.conv.stride, name="stride", function=name),
            pair(self.conv.dilate, name="dilate", function=name),
        )


class TFConv2DBNActiv(Chain):
    """Convolution with TensorFlow's padding, batch normalization and activation: activ(bn(conv(x))).

    Arguments as there; `bn_decay`, `bn_eps` go to the batch normalization; activ=None: no activation.
    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: int | tuple[int, int] | None = None,
        stride: int | tuple[int, int] = 1,
        pad: TFPad = "SAME",
        dilate: int | tuple[int, int] = 1,
        groups: int = 1,
        nobias: bool = True,
        initialW: InitialValue = None,
        initial_bias: InitialValue = None,
        activ: Activ | None = relu,
        *,
        bn_decay: float = 0.9,
        bn_eps: float = 2e-5,
    ):
        if ksize is None:  # as in Convolution2D: (out_channels, ksize)
            in_channels, out_channels, ksize = None, in_channels, out_channels  # type: ignore[assignment]
        settings = (stride, pad, nobias, initialW, initial_bias)
        self.activ = activ
        with self.init_scope():
            self.conv = TFConvolution2D(in_channels, out_channels, ksize, *settings, dilate=dilate, groups=groups)
            self.bn = BatchNormalization(out_channels, decay=bn_decay, eps=bn_eps)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, OH, OW) of x (B, in_channels, H, W)."""
        h = self.bn(self.conv(x))
        return h if self.activ is None else self.activ(h)


class ExpandedConv2D(Chain):
    """Inverted residual block with TensorFlow's padding: project(depthwise(expand(x))), plus x where the shapes allow.

    expansion_size: channels of the depthwise convolution, or a function of `num_inputs` that returns them; None: six
        times in_channels. Where they are not more than in_channels there is no `expand`
    expand_pad, depthwise_pad, project_pad: as in `TFConvolution2D`
    depthwise_stride, depthwise_ksize: of the depthwise convolution
    initialW: of all convolutions
    Source: Sandler et al., MobileNetV2, CVPR 2018.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        expansion_size: int | Callable[..., int] | None = None,
        expand_pad: TFPad = "SAME",
        depthwise_stride: int | tuple[int, int] = 1,
        depthwise_ksize: int | tuple[int, int] = 3,
        depthwise_pad: TFPad = "SAME",
        project_pad: TFPad = "SAME",
        initialW: InitialValue = None,
        *,
        bn_decay: float = 0.9,
        bn_eps: float = 2e-5,
    ):
        if expansion_size is None:
            inner = 6 * in_channels
        else:
            inner = expansion_size(num_inputs=in_channels) if callable(expansion_size) else expansion_size
        norm: BNSettings = {"bn_decay": bn_decay, "bn_eps": bn_eps}

        def conv(
            n_in: int,
            n_out: int,
            ksize: int | tuple[int, int],
            stride: int | tuple[int, int],
            pad: TFPad,
            activ: Activ | None,
            groups: int = 1,
        ) -> TFConv2DBNActiv:
            return TFConv2DBNActiv(
                n_in, n_out, ksize, stride, pad, groups=groups, initialW=initialW, activ=activ, **norm
            )

        self.inner_size = inner
        expanded = inner > in_channels
        middle = inner if expanded else in_channels
        with self.init_scope():
            self.expand = conv(in_channels, inner, 1, 1, expand_pad, F.relu6) if expanded else None
            window = (depthwise_ksize, depthwise_stride, depthwise_pad)
            self.depthwise = conv(middle, inner, *window, F.relu6, groups=middle)
            self.project = conv(inner, out_channels, 1, 1, project_pad, None)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, OH, OW) of x (B, in_channels, H, W)."""
        h = x if self.expand is None else self.expand(x)
        h = self.project(self.depthwise(h))
        return h + x if h.shape == x.shape else h
