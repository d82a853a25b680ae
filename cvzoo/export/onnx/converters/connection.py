"""Convolutions and matrix products with parameters."""

from collections.abc import Callable
from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.export.onnx.converters.activation import curve
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.export.onnx.step import Step
from cvzoo.functions.connection.convolution_2d import Convolution2D, Deconvolution2D, FusedConvolution2D
from cvzoo.functions.connection.embed_id import EmbedID
from cvzoo.functions.connection.linear import Linear
from cvzoo.graph.records import Record


def convolution_2d(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    return (g.add("Conv", step.inputs, _window(step, step.setting("_window"))),)


def fused_convolution_2d(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    """Convolution, sum and activation become separate operators, which runtimes fuse in their own ways."""
    settings = step.fixed(_without_pack, "window")
    has_b, has_add = step.setting("_has")
    y = g.add("Conv", step.inputs[: 3 if has_b else 2], _window(step, settings))
    if has_add:
        y = g.add("Add", [y, step.inputs[-1]])
    if settings["activation"] is not None:
        y = curve(g, y, settings["activation"], settings["alpha"], settings["beta"])
    return (y,)


def deconvolution_2d(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    window = step.setting("_window")
    top, bottom, left, right = window["pad"]
    room = []
    for axis, pad in ((2, top + bottom), (3, left + right)):
        stride, dilate = window["stride"][axis - 2], window["dilate"][axis - 2]
        kernel = step.fixed_size(step.in_shapes[1][axis])
        sizes = zip(step.in_shapes[0][axis], step.out_shapes[0][axis])
        # rows at the end that the strided convolution from the output to the input would not reach
        more = {out - (stride * (size - 1) + dilate * (kernel - 1) + 1 - pad) for size, out in sizes}
        if len(more) > 1:
            raise step.refuse("its output size does not follow from its input size")
        room.append(more.pop())
    return (g.add("ConvTranspose", step.inputs, {**_window(step, window), "output_padding": room}),)


def linear(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    return (g.add("Gemm", step.inputs, {"transB": 1}),)


def embed_id(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    if step.setting("_mask") is not None:
        raise step.refuse("rows of zeros for ignored indices")
    return (g.add("Gather", [step.inputs[0], g.constant(step.setting("_ids").astype("int64"))], {"axis": 0}),)


def _window(step: Step, window: dict[str, Any]) -> dict[str, Any]:
    top, bottom, left, right = window["pad"]
    return {
        "kernel_shape": step.fixed_shape(step.in_shapes[1])[2:],
        "strides": window["stride"],
        "pads": (top, left, bottom, right),
        "dilations": window["dilate"],
        "group": window["groups"],
    }


def _without_pack(record: Record) -> dict[str, Any]:
    return {name: value for name, value in record.settings["_settings"].items() if name != "pack"}


CONVERTERS: dict[type[FunctionNode], Callable[[OnnxGraph, Step], tuple[str, ...]]] = {
    Convolution2D: convolution_2d,
    Deconvolution2D: deconvolution_2d,
    EmbedID: embed_id,
    FusedConvolution2D: fused_convolution_2d,
    Linear: linear,
}
