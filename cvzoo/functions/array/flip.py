"""Axes read backwards."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.functions.array.axes import all_axes
from cvzoo.functions.array.get_item import get_item


def flip(x: Variable | Any, axis: int | Sequence[int] | None = None) -> Variable:
    """x backwards along `axis`, or along every axis; a view.

    Raises ShapeError if there is no such axis.
    """
    x = as_variable(x)
    axes = all_axes(axis, x.ndim, "flip")
    return get_item(x, tuple([slice(None, None, -1) if i in axes else slice(None) for i in range(x.ndim)]))


def flipud(x: Variable | Any) -> Variable:
    """x backwards along its first axis; a view."""
    return flip(x, 0)


def fliplr(x: Variable | Any) -> Variable:
    """x backwards along its second axis; a view."""
    return flip(x, 1)
