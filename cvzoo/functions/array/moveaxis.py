"""One or two axes at another place."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.axes import all_axes, one_axis
from cvzoo.functions.array.transpose import transpose


def moveaxis(x: Variable | Any, source: int | Sequence[int], destination: int | Sequence[int]) -> Variable:
    """x with the axes `source` at the places `destination`, the others in order around them; a view.

    Raises ShapeError if there is no such axis, or the two differ in length.
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


def swapaxes(x: Variable | Any, axis1: int, axis2: int) -> Variable:
    """x with two axes exchanged; a view.

    Raises ShapeError if there is no such axis.
    """
    x = as_variable(x)
    a, b = one_axis(axis1, x.ndim, "swapaxes"), one_axis(axis2, x.ndim, "swapaxes")
    order = list(range(x.ndim))
    order[a], order[b] = b, a
    return transpose(x, order)


def rollaxis(x: Variable | Any, axis: int, start: int = 0) -> Variable:
    """x with `axis` moved to before the axis that is now at `start`; a view.

    Raises ShapeError if there is no such axis.
    """
    x = as_variable(x)
    axis = one_axis(axis, x.ndim, "rollaxis")
    if start != x.ndim:
        start = one_axis(start, x.ndim, "rollaxis")
    order = [i for i in range(x.ndim) if i != axis]
    order.insert(start - (axis < start), axis)
    return transpose(x, order)
