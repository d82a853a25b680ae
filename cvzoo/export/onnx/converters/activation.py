"""Functions that are applied element by element."""

import math
from collections.abc import Callable

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.export.onnx.step import Step
from cvzoo.functions.activation.relu import LeakyReLU, PReLU, ReLU
from cvzoo.functions.activation.sigmoid import (
    ELU,
    GELU,
    GELUByTanh,
    HardSigmoid,
    HardSwish,
    Sigmoid,
    Softplus,
    Swish,
    Tanh,
)
from cvzoo.functions.activation.softmax import LogSoftmax, Softmax
from cvzoo.functions.math.arithmetic import Absolute, Negative
from cvzoo.functions.math.exponential import Erf, Exp, Log
from cvzoo.functions.math.extremum import Clip
from cvzoo.functions.math.power import Sqrt

_BY_NAME = {
    "relu": "Relu",
    "sigmoid": "Sigmoid",
    "tanh": "Tanh",
    "exp": "Exp",
    "log": "Log",
    "sqrt": "Sqrt",
    "abs": "Abs",
}
_CUBIC = 0.044715


def elementwise(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    """Converter of a `kind` of the backends' `eltwise`."""
    kind, alpha, beta = step.fixed(lambda r: (r.function.kind, r.function.alpha, r.function.beta), "curve")  # type: ignore[attr-defined]
    return (curve(g, step.inputs[0], kind, alpha, beta),)


def pointwise(op: str) -> Callable[[OnnxGraph, Step], tuple[str, ...]]:
    """The converter of a function without settings to an ONNX operator."""

    def convert(g: OnnxGraph, step: Step) -> tuple[str, ...]:
        return (g.add(op, step.inputs),)

    return convert


def curve(g: OnnxGraph, x: str, kind: str, alpha: float, beta: float) -> str:
    """A `kind` of `eltwise` applied to float32 x. Raises UnsupportedError for an unknown kind."""
    if kind in _BY_NAME:
        return g.add(_BY_NAME[kind], [x])
    if kind == "leaky_relu":
        return g.add("LeakyRelu", [x], {"alpha": float(alpha)})
    if kind == "elu":
        return g.add("Elu", [x], {"alpha": float(alpha)})
    if kind in ("clamp", "clip"):
        return g.add("Clip", [x, number(g, alpha), number(g, beta)])
    if kind == "softplus":
        scaled = x if alpha == 1 else g.add("Mul", [x, number(g, alpha)])
        y = g.add("Softplus", [scaled])
        return y if alpha == 1 else g.add("Div", [y, number(g, alpha)])
    if kind == "swish":
        scaled = x if alpha == 1 else g.add("Mul", [x, number(g, alpha)])
        return g.add("Mul", [x, g.add("Sigmoid", [scaled])])
    if kind == "hard_sigmoid":
        return g.add("HardSigmoid", [x], {"alpha": float(alpha), "beta": float(beta)})
    if kind == "hard_swish":
        return g.add("Mul", [x, g.add("HardSigmoid", [x], {"alpha": float(alpha), "beta": float(beta)})])
    if kind == "square":
        return g.add("Mul", [x, x])
    if kind == "gelu_erf":
        inner = g.add("Erf", [g.add("Mul", [x, number(g, math.sqrt(0.5))])])
    elif kind == "gelu_tanh":
        cube = g.add("Mul", [g.add("Mul", [x, x]), x])
        sum_ = g.add("Add", [x, g.add("Mul", [cube, number(g, _CUBIC)])])
        inner = g.add("Tanh", [g.add("Mul", [sum_, number(g, math.sqrt(2 / math.pi))])])
    else:
        raise UnsupportedError(f"ONNX: there is no operator for the activation {kind!r}")
    return g.add("Mul", [g.add("Mul", [x, number(g, 0.5)]), g.add("Add", [inner, number(g, 1.0)])])


def number(g: OnnxGraph, value: float) -> str:
    """A float32 constant ()."""
    return g.constant(np.array(value, np.float32))


def softmax(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    return (g.add("Softmax", step.inputs, {"axis": _axis(step)}),)


def log_softmax(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    return (g.add("LogSoftmax", step.inputs, {"axis": _axis(step)}),)


def _axis(step: Step) -> int:
    return step.setting("axis") % len(step.in_shapes[0])


CONVERTERS: dict[type[FunctionNode], Callable[[OnnxGraph, Step], tuple[str, ...]]] = {
    Absolute: elementwise,
    Clip: elementwise,
    ELU: elementwise,
    Erf: pointwise("Erf"),
    Exp: elementwise,
    GELU: elementwise,
    GELUByTanh: elementwise,
    HardSigmoid: elementwise,
    HardSwish: elementwise,
    LeakyReLU: elementwise,
    Log: elementwise,
    Negative: pointwise("Neg"),
    PReLU: pointwise("PRelu"),
    ReLU: elementwise,
    Sigmoid: elementwise,
    Softplus: elementwise,
    Sqrt: elementwise,
    Swish: elementwise,
    Tanh: elementwise,
    LogSoftmax: log_softmax,
    Softmax: softmax,
}
