"""Which activations a convolution's kernel applies itself."""

from collections.abc import Callable
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.activation.clipped_relu import relu6
from cvzoo.functions.activation.hard_sigmoid import hard_sigmoid, hard_swish
from cvzoo.functions.activation.leaky_relu import leaky_relu
from cvzoo.functions.activation.relu import relu
from cvzoo.functions.activation.sigmoid import sigmoid
from cvzoo.functions.activation.swish import silu
from cvzoo.functions.activation.tanh import tanh

Activ = Callable[[Any], Variable]


def leaky(x: Any) -> Variable:
    """x where it is positive, else x / 10: darknet's leaky ReLU."""
    return leaky_relu(x, 0.1)


def hard_gate(x: Any) -> Variable:
    """min(max(x / 6 + 0.5, 0), 1): the hard sigmoid of MobileNetV3."""
    return hard_sigmoid(x, 1 / 6)


# function: (the backends' kind, alpha, beta)
_KERNELS: dict[Activ, tuple[str, float, float]] = {
    hard_gate: ("hard_sigmoid", 1 / 6, 0.5),
    hard_swish: ("hard_swish", 1 / 6, 0.5),
    leaky: ("leaky_relu", 0.1, 0.0),
    relu: ("relu", 0.0, 0.0),
    relu6: ("clip", 0.0, 6.0),
    sigmoid: ("sigmoid", 0.0, 0.0),
    silu: ("swish", 1.0, 0.0),
    tanh: ("tanh", 0.0, 0.0),
}


def fused_activation(activ: Activ | None) -> tuple[str | None, float, float] | None:
    """(activation, alpha, beta) as `fused_convolution_2d` takes them; None if `activ` has to be called by itself."""
    return (None, 0.0, 0.0) if activ is None else _KERNELS.get(activ)
