"""Resizing of feature maps."""

from collections.abc import Callable

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.export.onnx.sizes import Sizes
from cvzoo.export.onnx.step import Step
from cvzoo.functions.array.resize_images import ResizeImages


def resize_images(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    mode, align_corners, antialias = step.setting("settings")
    (x,) = step.inputs
    before, after = step.in_shapes[0][2:], step.out_shapes[0][2:]
    if mode == "nearest":
        factors = [_factor(a, b) for a, b in zip(before, after)]
        if None not in factors:
            scales = g.constant(np.array([1, 1, *factors], np.float32))
            attributes = {
                "mode": "nearest",
                "coordinate_transformation_mode": "asymmetric",
                "nearest_mode": "floor",
            }
            return (g.add("Resize", [x, "", scales], attributes),)
        for axis, (a, b) in enumerate(zip(before, after), 2):
            x = _pick(g, x, axis, a, b)
        return (x,)
    shrinks = any(b < a for sizes in zip(before, after) for a, b in zip(*sizes))
    if antialias and shrinks:
        raise step.refuse("antialiased downsampling, which opset 17 does not have")
    sizes = g.shape([*step.in_shapes[0][:2], *after])
    centres = "align_corners" if align_corners else "half_pixel"
    return (g.add("Resize", [x, "", "", sizes], {"mode": "linear", "coordinate_transformation_mode": centres}),)


def _factor(before: Sizes, after: Sizes) -> int | None:
    factors = {b / a for a, b in zip(before, after)}
    factor = factors.pop()
    return int(factor) if not factors and factor == int(factor) else None


def _pick(g: OnnxGraph, x: str, axis: int, before: Sizes, after: Sizes) -> str:
    """Pixel i * before // after for each i, in integers: runtimes' float coordinates may be off by a pixel."""
    h, oh = g.size(before), g.size(after)
    one, zero = g.integers(1), g.integers(0)
    scalar = g.add("Squeeze", [oh, zero])
    i = g.add("Range", [g.add("Squeeze", [zero, zero]), scalar, g.add("Squeeze", [one, zero])])
    return g.add("Gather", [x, g.add("Div", [g.add("Mul", [i, h]), oh])], {"axis": axis})


CONVERTERS: dict[type[FunctionNode], Callable[[OnnxGraph, Step], tuple[str, ...]]] = {
    ResizeImages: resize_images,
}
