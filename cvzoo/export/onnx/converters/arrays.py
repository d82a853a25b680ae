"""Functions that rearrange arrays."""

from collections.abc import Callable

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.export.onnx.converters.activation import pointwise
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.export.onnx.step import Step
from cvzoo.functions.array.axes import Reshape, Transpose
from cvzoo.functions.array.broadcast import BroadcastTo
from cvzoo.functions.array.concat import Concat, SplitAxis
from cvzoo.functions.array.copy import Copy
from cvzoo.functions.array.depth2space import ChannelShuffle
from cvzoo.functions.array.flip import Roll
from cvzoo.functions.array.indexing import Where
from cvzoo.functions.array.pad import Pad


def reshape(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    return (g.reshape(step.inputs[0], step.out_shapes[0]),)


def transpose(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    axes = step.setting("axes")
    n = len(step.in_shapes[0])
    axes = range(n)[::-1] if axes is None else [axis % n for axis in axes]
    return (g.add("Transpose", step.inputs, {"perm": list(axes)}),)


def concat(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    if len(step.inputs) == 1:
        return (g.add("Identity", step.inputs),)
    return (g.add("Concat", step.inputs, {"axis": step.setting("axis") % len(step.in_shapes[0])}),)


def split_axis(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    axis = step.setting("axis") % len(step.in_shapes[0])
    parts = [shape[axis] for shape in step.out_shapes]
    return g.add_many("Split", [step.inputs[0], g.shape(parts)], len(parts), {"axis": axis})


def broadcast_to(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    return (g.add("Expand", [step.inputs[0], g.shape(step.out_shapes[0])]),)


def pad(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    """Padding is computed from the shapes and the slice of the result that holds x."""
    before = step.fixed(lambda record: [part.start for part in record.function.inner], "rim")  # type: ignore[attr-defined]
    after = []
    for start, small, large in zip(before, step.in_shapes[0], step.out_shapes[0]):
        rims = {b - a - start for a, b in zip(small, large)}
        after.append(rims.pop() if len(rims) == 1 else step.fixed_size(large))
    value = g.constant(np.array(step.setting("value"), np.float32))
    return (g.add("Pad", [step.inputs[0], g.integers(*before, *after), value]),)


def roll(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    (y,) = step.inputs
    for shift, axis in zip(step.setting("shifts"), step.setting("axes")):
        axis %= len(step.in_shapes[0])
        if shift == 0:
            continue
        if any(abs(shift) >= size for size in step.in_shapes[0][axis]):
            shift %= step.fixed_size(step.in_shapes[0][axis])
        end, along = np.iinfo(np.int64).max, g.integers(axis)
        last = g.add("Slice", [y, g.integers(-shift), g.integers(end), along])
        first = g.add("Slice", [y, g.integers(0), g.integers(-shift), along])
        y = g.add("Concat", [last, first], {"axis": axis})
    return (y,)


def where(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    return (g.add("Where", [g.constant(np.asarray(step.setting("condition"))), *step.inputs]),)


def channel_shuffle(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    (x,) = step.inputs
    groups = step.setting("groups")
    channels = step.fixed_size(step.in_shapes[0][1])
    parts = g.add("Reshape", [x, g.integers(0, groups, channels // groups, -1)])
    turned = g.add("Transpose", [parts], {"perm": [0, 2, 1, 3]})
    return (g.add("Reshape", [turned, g.add("Shape", [x])]),)


CONVERTERS: dict[type[FunctionNode], Callable[[OnnxGraph, Step], tuple[str, ...]]] = {
    BroadcastTo: broadcast_to,
    ChannelShuffle: channel_shuffle,
    Concat: concat,
    Copy: pointwise("Identity"),
    Pad: pad,
    Reshape: reshape,
    Roll: roll,
    SplitAxis: split_axis,
    Transpose: transpose,
    Where: where,
}
