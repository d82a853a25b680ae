"""The activations that a darknet cfg may name."""

from collections.abc import Callable

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.links.connection.fused_activation import leaky
from cvzoo.weights.formats.darknet import DarknetSection

Activation = Callable[[Variable], Variable]


def read_activation(section: DarknetSection, default: str) -> Activation | None:
    """The section's activation, or None for "linear". Raises UnsupportedError that names the line of another."""
    name = section.get_str("activation", default)
    match name:
        case "linear":
            return None
        case "leaky":
            return leaky
        case "relu":
            return F.relu
        case "relu6":
            return F.relu6
        case "logistic":
            return F.sigmoid
        case "tanh":
            return F.tanh
        case "elu":
            return F.elu
        case "swish":
            return F.silu
        case "mish":
            return mish
    line = section.option_lines.get("activation", section.line)
    raise UnsupportedError(
        f"{section.cfg} line {line}, [{section.name}]: activation={name} is not supported",
        expected="linear, leaky, relu, relu6, logistic, tanh, elu, swish or mish",
    )


def mish(x: Variable) -> Variable:
    """x * tanh(softplus(x)). Source: Misra, Mish, BMVC 2020."""
    return x * F.tanh(F.softplus(x))
