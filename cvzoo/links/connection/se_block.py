"""Squeeze-and-excitation blocks (Hu et al., 2018)."""

from collections.abc import Callable

from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.activation.relu import relu
from cvzoo.functions.activation.sigmoid import sigmoid
from cvzoo.functions.array.axes import reshape
from cvzoo.functions.math.arithmetic import multiply
from cvzoo.functions.pooling.pooling_2d import global_average_pooling_2d
from cvzoo.links.chain import Chain
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_convolution import Activ, fused_activation, fused_convolution
from cvzoo.links.connection.linear import Linear
from cvzoo.typing.aliases import Array


class SEBlock(Chain):
    """x times a gate in [0, 1] for each channel: gate(up(activ(down(mean of x)))).

    n_channel: channels of x
    ratio: the hidden layer has n_channel // ratio units
    activ, gate: the functions after `down` and after `up`
    Source: Hu, Shen and Sun, Squeeze-and-Excitation Networks, CVPR 2018.
    """

    def __init__(
        self,
        n_channel: int,
        ratio: int = 16,
        *,
        activ: Callable[[Variable], Variable] = relu,
        gate: Callable[[Variable], Variable] = sigmoid,
    ):
        if n_channel // ratio < 1:
            raise ValueRangeError(
                "SEBlock: no hidden unit is left", expected=f"ratio <= {n_channel} channels", got=f"ratio={ratio}"
            )
        self.activ = activ
        self.gate = gate
        with self.init_scope():
            self.down = Linear(n_channel, n_channel // ratio)
            self.up = Linear(n_channel // ratio, n_channel)

    def forward(self, x: Variable | Array) -> Variable:
        """x's shape; x is (B, n_channel, H, W)."""
        b, c = x.shape[:2]
        z = reshape(global_average_pooling_2d(x), (b, c))
        z = self.gate(self.up(self.activ(self.down(z))))
        return multiply(x, reshape(z, (b, c, 1, 1)))


class SqueezeExcite2D(Chain):
    """x times a gate for each channel: gate(fc2(activ(fc1(mean of x)))).

    n_channel: channels of x
    n_hidden: hidden units
    activ, gate: the functions after `fc1` and after `fc2`

    It is `SEBlock` with filters (O, C, 1, 1) instead of matrices, as in published files, and in inference one kernel
    per layer.
    Source: Hu, Shen and Sun, Squeeze-and-Excitation Networks, CVPR 2018.
    """

    def __init__(self, n_channel: int, n_hidden: int, *, activ: Activ = relu, gate: Activ = sigmoid):
        self.activ = activ
        self.gate = gate
        with self.init_scope():
            self.fc1 = Convolution2D(n_channel, n_hidden, 1)
            self.fc2 = Convolution2D(n_hidden, n_channel, 1)

    def forward(self, x: Variable | Array) -> Variable:
        """x's shape; x is (B, n_channel, H, W)."""
        z = reshape(global_average_pooling_2d(x), (*x.shape[:2], 1, 1))
        return multiply(x, _layer(self.fc2, self.gate, _layer(self.fc1, self.activ, z)))


def _layer(conv: Convolution2D, activ: Activ, z: Variable) -> Variable:
    kernel = None if switches.enable_backprop else fused_activation(activ)
    if kernel is None:
        return activ(conv(z))
    kind, alpha, beta = kernel
    return fused_convolution(conv)(z, activation=kind, alpha=alpha, beta=beta)
