"""Darknet's [convolutional] and [connected]."""

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_convolution import can_fold, fused_activation, fused_convolution
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.darknet.layer import (
    Activation,
    DarknetLayer,
    Shape,
    check_fits,
    check_n_weight,
    get_size,
    read_activation,
    refuse_options,
)
from cvzoo.typing.aliases import Array
from cvzoo.weights.formats.darknet import DarknetSection, DarknetWeightsFile

# Added to the variance. The published scores were measured with darknet's GPU code, which has 1e-5 under the root; its
# CPU code adds 1e-6 to the root instead.
BN_EPS = 1e-5


class DarknetConvolution(Chain):
    """Convolution, batch normalization (or a bias), activation.

    conv: the convolution; its W is uninitialized before `load` or `initialize`
    bn: the batch normalization, or None

    In inference it is fused to one kernel, if the activation is one of `fused_activation`.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        ksize: int,
        stride: tuple[int, int],
        pad: int,
        *,
        dilate: int = 1,
        groups: int = 1,
        batch_normalize: bool = True,
        activation: Activation | None = None,
    ):
        self.in_channels = in_channels
        self.activation = activation
        with self.init_scope():
            self.conv = Convolution2D(
                None, out_channels, ksize, stride, pad, nobias=batch_normalize, dilate=dilate, groups=groups
            )
            self.bn = BatchNormalization(out_channels, eps=BN_EPS) if batch_normalize else None

    @property
    def n_value(self) -> int:
        """The number of its values, also before they are initialized."""
        conv = self.conv
        return conv.out_channels * (self.in_channels // conv.groups * conv.ksize[0] * conv.ksize[1] + 4)

    def initialize(self) -> None:
        """Initialize W randomly."""
        conv = self.conv
        conv.W.initialize((conv.out_channels, self.in_channels // conv.groups, *conv.ksize))

    def load(self, file: DarknetWeightsFile, name: str) -> None:
        """Load this layer's values from the file; name: of the layer, for errors."""
        take_convolution(file, self.conv, self.bn, in_channels=self.in_channels, name=name)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, OH, OW) of x (B, in_channels, H, W)."""
        if self.can_add():
            kernel = fused_activation(self.activation)
            kind, alpha, beta = kernel or (None, 0.0, 0.0)
            h = fused_convolution(self.conv, self.bn)(x, activation=kind, alpha=alpha, beta=beta)
            return h if kernel is not None or self.activation is None else self.activation(h)
        h = self.conv(x)
        if self.bn is not None:
            h = self.bn(h)
        return h if self.activation is None else self.activation(h)

    def can_add(self) -> bool:
        """Whether convolution and normalization are currently one kernel, to which a sum can be fused."""
        return self.bn is not None and can_fold(self.conv, self.bn)

    def add_up(self, x: Variable | Array, other: Variable | Array, activation: Activation | None) -> Variable:
        """activation(bn(conv(x)) + other) in one kernel; requires `can_add()` and an activation that kernels have."""
        kind, alpha, beta = fused_activation(activation) or (None, 0.0, 0.0)
        return fused_convolution(self.conv, self.bn)(x, add=other, activation=kind, alpha=alpha, beta=beta)


def _set(parameter: Parameter | None, array: np.ndarray) -> None:
    if parameter is not None:
        parameter.array = array


def take_convolution(
    file: DarknetWeightsFile, conv: Convolution2D, bn: BatchNormalization | None, *, in_channels: int, name: str
) -> None:
    """Fill a convolution and its batch normalization with the file's next values, in darknet's order."""
    n = conv.out_channels
    bias = file.take(n, f"{name}, biases")
    if bn is None:
        _set(conv.b, bias)
    else:
        _set(bn.beta, bias)
        _set(bn.gamma, file.take(n, f"{name}, scales"))
        bn.avg_mean = file.take(n, f"{name}, rolling means")
        bn.avg_var = file.take(n, f"{name}, rolling variances")
    conv.W.array = file.take((n, in_channels // conv.groups, *conv.ksize), f"{name}, weights")


def build_convolution(section: DarknetSection, index: int, shape: Shape) -> DarknetLayer:
    """The layer after an output (C, H, W). Raises FileFormatError or UnsupportedError that names the line."""
    refuse_options(section, "binary", "xnor", "dot", "flipped", "antialiasing", "assisted_excitation", "share_index")
    refuse_options(section, "deform", "sway", "rotate", "stretch", "stretch_sway", "coordconv")
    filters = get_size(section, "filters", 1)
    ksize = get_size(section, "size", 1, most=255)
    stride = get_size(section, "stride", 1, most=255)
    strides = get_size(section, "stride_y", stride, most=255), get_size(section, "stride_x", stride, most=255)
    groups = get_size(section, "groups", 1)
    dilate = get_size(section, "dilation", 1, most=255) if ksize > 1 else 1
    # with pad=1 darknet pads by size // 2 and ignores padding=
    pad = ksize // 2 if section.get_bool("pad", False) else section.get_int("padding", 0)
    if not 0 <= pad <= 255:
        raise section.error(f"padding={pad} must lie in 0 .. 255", option="padding")
    pad *= dilate
    channels, height, width = shape
    if channels % groups or filters % groups:
        raise section.error(f"{channels} channels in and {filters} out do not divide into groups={groups}")
    check_n_weight(section, filters, channels // groups, ksize, ksize)
    span = dilate * (ksize - 1) + 1
    size = (height + 2 * pad - span) // strides[0] + 1, (width + 2 * pad - span) // strides[1] + 1
    link = DarknetConvolution(
        channels,
        filters,
        ksize,
        strides,
        pad,
        dilate=dilate,
        groups=groups,
        batch_normalize=section.get_bool("batch_normalize", False),
        activation=read_activation(section, "logistic"),
    )
    return DarknetLayer(section, (index - 1,), link, check_fits(section, (filters, *size)))


class DarknetConnected(Chain):
    """Matrix product, batch normalization (or a bias), activation; the output is (B, O, 1, 1)."""

    def __init__(self, in_size: int, out_size: int, *, batch_normalize: bool, activation: Activation | None):
        self.in_size = in_size
        self.out_size = out_size
        self.activation = activation
        with self.init_scope():
            self.fc = Linear(None, out_size, nobias=batch_normalize)
            self.bn = BatchNormalization(out_size, eps=BN_EPS) if batch_normalize else None

    @property
    def n_value(self) -> int:
        """The number of its values, also before they are initialized."""
        return self.out_size * (self.in_size + 4)

    def initialize(self) -> None:
        """Initialize W randomly."""
        self.fc.W.initialize((self.out_size, self.in_size))

    def load(self, file: DarknetWeightsFile, name: str) -> None:
        """Load this layer's values from the file; name: of the layer, for errors."""
        bias = file.take(self.out_size, f"{name}, biases")
        if file.transposed:
            self.fc.W.array = file.take((self.in_size, self.out_size), f"{name}, weights").T.copy()
        else:
            self.fc.W.array = file.take((self.out_size, self.in_size), f"{name}, weights")
        if self.bn is None:
            _set(self.fc.b, bias)
        else:
            _set(self.bn.beta, bias)
            _set(self.bn.gamma, file.take(self.out_size, f"{name}, scales"))
            self.bn.avg_mean = file.take(self.out_size, f"{name}, rolling means")
            self.bn.avg_var = file.take(self.out_size, f"{name}, rolling variances")

    def forward(self, x: Variable | Array) -> Variable:
        """(B, O, 1, 1) of x (B, C, H, W)."""
        h = self.fc(F.reshape(x, (x.shape[0], -1)))
        if self.bn is not None:
            h = self.bn(h)
        h = F.reshape(h, (*h.shape, 1, 1))
        return h if self.activation is None else self.activation(h)


def build_connected(section: DarknetSection, index: int, shape: Shape) -> DarknetLayer:
    """The layer after an output (C, H, W). Raises FileFormatError or UnsupportedError that names the line."""
    in_size, out_size = shape[0] * shape[1] * shape[2], get_size(section, "output", 1)
    check_n_weight(section, out_size, in_size)
    link = DarknetConnected(
        in_size,
        out_size,
        batch_normalize=section.get_bool("batch_normalize", False),
        activation=read_activation(section, "logistic"),
    )
    return DarknetLayer(section, (index - 1,), link, (out_size, 1, 1))
