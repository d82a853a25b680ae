"""Axes in another order."""

from collections.abc import Sequence

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.axes import all_axes, one_axis
from cvzoo.typing.aliases import Array


class Transpose(FunctionNode):
    def __init__(self, axes: Sequence[int] | None):
        self.axes = axes

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        backend_of(x)
        axes = self.axes
        if axes is not None:
            self.axes = axes = all_axes(axes, x.ndim, "transpose")
            if len(axes) != x.ndim:
                raise ShapeError("transpose: every axis must come once", expected=f"{x.ndim} axes", got=axes)
        return (x.transpose(axes),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        axes = self.axes
        if axes is not None:
            axes = sorted(range(len(axes)), key=axes.__getitem__)
        return Transpose(axes).apply(gys)


def transpose(x: Variable | Array, axes: Sequence[int] | None = None) -> Variable:
    """x with its axes in the order `axes`, or in reverse order; a view.

    Raises ShapeError if `axes` does not name every axis once.
    """
    return Transpose(axes).apply((x,))[0]


def moveaxis(x: Variable | Array, source: int | Sequence[int], destination: int | Sequence[int]) -> Variable:
    """x with the axes `source` at the places `destination`, the others in order around them; a view.

    Raises ShapeError if an axis is out of range, or the two differ in length.
    """
    x = as_variable(x)
    sources = all_axes(source, x.ndim, "moveaxis")
    places = all_axes(destination, x.ndim, "moveaxis")
    if len(sources) != len(places):
        raise ShapeError("moveaxis: one place for each axis", expected=len(sources), got=len(places))
    order = [i for i in range(x.ndim) if i not in sources]
    for place, axis in sorted(zip(places, sources)):
        order.insert(place, axis)
    return transpose(x, order)


def swapaxes(x: Variable | Array, axis1: int, axis2: int) -> Variable:
    """x with two axes exchanged; a view.

    Raises ShapeError if an axis is out of range.
    """
    x = as_variable(x)
    a, b = one_axis(axis1, x.ndim, "swapaxes"), one_axis(axis2, x.ndim, "swapaxes")
    order = list(range(x.ndim))
    order[a], order[b] = b, a
    return transpose(x, order)


def rollaxis(x: Variable | Array, axis: int, start: int = 0) -> Variable:
    """x with `axis` moved to before the axis that is now at `start`; a view.

    Raises ShapeError if an axis is out of range.
    """
    x = as_variable(x)
    axis = one_axis(axis, x.ndim, "rollaxis")
    if start != x.ndim:
        start = one_axis(start, x.ndim, "rollaxis")
    order = [i for i in range(x.ndim) if i != axis]
    order.insert(start - (axis < start), axis)
    return transpose(x, order)
