"""Sums, products, powers, extrema, reductions, matrix products."""

import numpy as np

from cvzoo.export.onnx.converters.activation import number
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.export.onnx.step import Step


def with_constant(op: str, *, first: bool = False):
    """From ONNX's name, the converter of a function of x and a number; `first`: the number comes first."""

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
        raise step.refuse(f"a change to {from_}: the file computes in float32")
    return (g.add("Identity", step.inputs),)


def _reduced(op: str):
    def convert(g: OnnxGraph, step: Step) -> tuple[str, ...]:
        axes = step.function.axes  # type: ignore[attr-defined]
        return (g.add(op, step.inputs, {"axes": axes, "keepdims": int(step.setting("keepdims"))}),)

    return convert
