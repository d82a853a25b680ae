"""Poolings."""

import dataclasses
from collections.abc import Callable
from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.export.onnx.converters.activation import number
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.export.onnx.step import Step
from cvzoo.functions.pooling.adaptive_average_pooling_2d import WeighRowsAndColumns
from cvzoo.functions.pooling.pooling_2d import AveragePooling2D, MaxPooling2D, Upsampling2D
from cvzoo.shapes.sizes import end_pad


def max_pooling_2d(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    y = g.add("MaxPool", step.inputs, _window(step))
    g.pooled.append((step.in_shapes[0], step.out_shapes[0], len(g.nodes) - 1))
    return (y,)


def upsampling_2d(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    """Max unpooling; the indices are the second output of the pooling that the maxima came from."""
    large, small = step.out_shapes[0], step.in_shapes[0]
    positions = [place for before, after, place in g.pooled if before == large and after == small]
    if len(positions) != 1:
        raise step.refuse("it is ambiguous which pooling its indices come from")
    node = g.nodes[positions[0]]
    if len(node.outputs) == 1:
        node = g.nodes[positions[0]] = dataclasses.replace(node, outputs=(*node.outputs, g.new_name("places")))
    flat = g.integers(-1)
    shape = g.shape(large)
    zeros = g.add("Expand", [number(g, 0), g.add("ReduceProd", [shape], {"axes": [0], "keepdims": 1})])
    values, index = (g.add("Reshape", [each, flat]) for each in (step.inputs[0], node.outputs[1]))
    # MaxUnpool rejects sizes that the pooling did not divide without a remainder
    y = g.add("ScatterElements", [zeros, index, values], {"axis": 0, "reduction": "add"})
    return (g.add("Reshape", [y, shape]),)


def average_pooling_2d(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    if _is_global(step):
        return (g.add("GlobalAveragePool", step.inputs),)
    window = _window(step)
    count_pad = step.setting("_count_pad")
    if count_pad and "ceil_mode" in window:
        raise step.refuse("padding at the end that depends on the size and counts in the mean")
    return (g.add("AveragePool", step.inputs, {**window, "count_include_pad": int(count_pad)}),)


def weigh_rows_and_columns(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    rows, columns = (step.setting(name).astype("float32") for name in ("_rows", "_columns"))
    across = g.add("MatMul", [step.inputs[0], g.constant(columns.T)])
    return (g.add("MatMul", [g.constant(rows), across]),)


def _is_global(step: Step) -> bool:
    sizes = zip(step.in_shapes[0][2], step.in_shapes[0][3])
    windows = [record.settings["_window"] for record in step.records]
    return all(each["ksize"] == size and not any(each["pad"]) for each, size in zip(windows, sizes))


def _window(step: Step) -> dict[str, Any]:
    ksize = step.fixed(lambda record: record.settings["_window"]["ksize"], "window")
    stride = step.fixed(lambda record: record.settings["_window"]["stride"], "stride")
    pads = [record.settings["_window"]["pad"] for record in step.records]
    top, bottom, left, right = pads[0]
    window = {"kernel_shape": ksize, "strides": stride, "pads": (top, left, bottom, right)}
    # padding at the end that depends on the remainder is ONNX's ceil_mode
    even = top, top, left, left
    if any(each != even for each in pads) and pads == [_covering(step, k, even) for k in range(len(pads))]:
        return {**window, "pads": (top, left, top, left), "ceil_mode": 1}
    if len(set(pads)) > 1:
        raise step.refuse("its padding changes with the size")
    if any(pad >= k for pad, k in zip(pads[0], (ksize[0], ksize[0], ksize[1], ksize[1]))):
        raise step.refuse("a window that may be entirely in the padding")
    return window


def _covering(step: Step, k: int, pad: tuple[int, ...]) -> tuple[int, ...]:
    """The padding of probe k if `pad` were extended at the end so that the windows cover all pixels."""
    window = step.records[k].settings["_window"]
    (kh, kw), (sy, sx), (top, bottom, left, right) = window["ksize"], window["stride"], pad
    h, w = step.in_shapes[0][2][k], step.in_shapes[0][3][k]
    return top, end_pad(h, kh, sy, top, bottom), left, end_pad(w, kw, sx, left, right)


CONVERTERS: dict[type[FunctionNode], Callable[[OnnxGraph, Step], tuple[str, ...]]] = {
    AveragePooling2D: average_pooling_2d,
    MaxPooling2D: max_pooling_2d,
    Upsampling2D: upsampling_2d,
    WeighRowsAndColumns: weigh_rows_and_columns,
}
