"""Sums, products, powers, extrema, reductions, matrix products."""

from collections.abc import Callable

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.export.onnx.converters.activation import number, pointwise
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.export.onnx.step import Step
from cvzoo.functions.array.dtypes import Cast
from cvzoo.functions.math.arithmetic import (
    Add,
    AddConstant,
    Divide,
    DivideByConstant,
    DivideConstant,
    Multiply,
    MultiplyConstant,
    Subtract,
    SubtractConstant,
    SubtractFromConstant,
)
from cvzoo.functions.math.extremum import Extremum, Maximum, Minimum
from cvzoo.functions.math.matmul import MatMul
from cvzoo.functions.math.power import Power, PowerByConstant, Square
from cvzoo.functions.math.sum import Norm, Prod, Sum


def with_constant(op: str, *, first: bool = False) -> Callable[[OnnxGraph, Step], tuple[str, ...]]:
    """The converter of a function of x and a number to an ONNX operator; first: the number is the first operand."""

    def convert(g: OnnxGraph, step: Step) -> tuple[str, ...]:
        operands = [step.inputs[0], number(g, step.setting("value"))]
        return (g.add(op, operands[::-1] if first else operands),)

    return convert


def extremum(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    return _reduced("ReduceMax" if step.setting("name") == "max" else "ReduceMin")(g, step)


def sum_(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    axes = step.function.axes  # type: ignore[attr-defined]
    keep = {"keepdims": int(step.setting("keepdims"))}
    return (g.add("ReduceSum", [step.inputs[0], g.integers(*axes)], keep) if axes else step.inputs[0],)


def norm(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    return _reduced("ReduceL2")(g, step)


def prod(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    return _reduced("ReduceProd")(g, step)


def mat_mul(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    operands = []
    for name, shape, turned in zip(step.inputs, step.in_shapes, (step.setting("transa"), step.setting("transb"))):
        if turned:
            axes = list(range(len(shape)))
            axes[-2:] = axes[-1], axes[-2]
            name = g.add("Transpose", [name], {"perm": axes})
        operands.append(name)
    return (g.add("MatMul", operands),)


def square(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    (x,) = step.inputs
    return (g.add("Mul", [x, x]),)


def cast(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    from_, to = (np.dtype(step.records[0].settings["dtype"]).name, "float32")
    if from_ != to:
        raise step.refuse(f"a cast to {from_}: the file computes in float32")
    return (g.add("Identity", step.inputs),)


def _reduced(op: str) -> Callable[[OnnxGraph, Step], tuple[str, ...]]:
    def convert(g: OnnxGraph, step: Step) -> tuple[str, ...]:
        axes = step.function.axes  # type: ignore[attr-defined]
        return (g.add(op, step.inputs, {"axes": axes, "keepdims": int(step.setting("keepdims"))}),)

    return convert


CONVERTERS: dict[type[FunctionNode], Callable[[OnnxGraph, Step], tuple[str, ...]]] = {
    Square: square,
    Add: pointwise("Add"),
    AddConstant: with_constant("Add"),
    Divide: pointwise("Div"),
    DivideByConstant: with_constant("Div"),
    DivideConstant: with_constant("Div", first=True),
    MatMul: mat_mul,
    Maximum: pointwise("Max"),
    Minimum: pointwise("Min"),
    Multiply: pointwise("Mul"),
    MultiplyConstant: with_constant("Mul"),
    Power: pointwise("Pow"),
    PowerByConstant: with_constant("Pow"),
    Subtract: pointwise("Sub"),
    SubtractConstant: with_constant("Sub"),
    SubtractFromConstant: with_constant("Sub", first=True),
    Extremum: extremum,
    Norm: norm,
    Prod: prod,
    Sum: sum_,
    Cast: cast,
}
