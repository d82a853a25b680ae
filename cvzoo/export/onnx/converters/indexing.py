"""x[...] by NumPy's rules."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.export.onnx.step import Step
from cvzoo.functions.array.indexing import GetItem

_END = np.iinfo(np.int64).max

Part: TypeAlias = int | slice | np.ndarray | None  # of an index, for one axis; None: a new axis


def get_item(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    """Slices first, then gathered indices, then new axes."""
    ndim = len(step.in_shapes[0])
    parts = _spelled_out(step.setting("index"), ndim)
    if sum(isinstance(part, np.ndarray) for part in parts) > 1:
        raise step.refuse("an index of several arrays")
    (y,) = step.inputs
    y = _sliced(g, y, parts)
    axis = 0  # of y, in which each integer index has removed an axis
    for part in parts:
        if isinstance(part, np.ndarray):
            if part.dtype == bool:
                part = np.flatnonzero(part)
            y = g.add("Gather", [y, g.constant(part.astype(np.int64))], {"axis": axis})
            axis += part.ndim
        elif isinstance(part, int):
            y = g.add("Gather", [y, g.constant(np.array(part, np.int64))], {"axis": axis})
        elif part is not None:
            axis += 1
    new = _new_axes(parts)
    if new:
        y = g.add("Unsqueeze", [y, g.integers(*new)])
    return (g.add("Identity", [y]) if y == step.inputs[0] else y,)


def _spelled_out(index: tuple, ndim: int) -> list[Part]:
    """One part per axis, and None for new axes: the ellipsis, or missing parts at the end, become full slices."""
    n_indexed = sum(part.ndim if _is_mask(part) else part is not None and part is not Ellipsis for part in index)
    full = [slice(None)] * (ndim - n_indexed)
    if not any(part is Ellipsis for part in index):
        return [*index, *full]
    position = next(i for i, part in enumerate(index) if part is Ellipsis)
    return [*index[:position], *full, *index[position + 1 :]]


def _is_mask(part: object) -> bool:
    return isinstance(part, np.ndarray) and part.dtype == bool


def _sliced(g: OnnxGraph, x: str, parts: list[Part]) -> str:
    starts, ends, axes, steps = [], [], [], []
    for axis, part in enumerate([part for part in parts if part is not None]):
        if isinstance(part, slice) and part != slice(None):
            step = 1 if part.step is None else part.step
            backwards = step < 0
            starts.append((_END if backwards else 0) if part.start is None else part.start)
            ends.append((-_END if backwards else _END) if part.stop is None else part.stop)
            axes.append(axis)
            steps.append(step)
    if not axes:
        return x
    return g.add("Slice", [x, *[g.integers(*each) for each in (starts, ends, axes, steps)]])


def _new_axes(parts: list[Part]) -> list[int]:
    new, axis = [], 0
    for part in parts:
        if part is None:
            new.append(axis)
        if isinstance(part, np.ndarray):
            axis += 1 if part.dtype == bool else part.ndim
        elif not isinstance(part, int):
            axis += 1
    return new


CONVERTERS: dict[type[FunctionNode], Callable[[OnnxGraph, Step], tuple[str, ...]]] = {
    GetItem: get_item,
}
