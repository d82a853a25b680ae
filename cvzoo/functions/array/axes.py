"""Axes as they may be given by a caller: one number, several, or none for all; negative ones count from the end."""

import operator
from collections.abc import Sequence

from cvzoo.errors.exceptions import DtypeError, ShapeError

Axes = int | Sequence[int] | None


def one_axis(axis: int, ndim: int, function: str) -> int:
    """The axis counted from the front.

    Raises ShapeError if an axis is out of range, DtypeError if it is not an integer.
    """
    try:
        axis = operator.index(axis)
    except TypeError:
        raise DtypeError(f"{function}: axis must be a whole number", got=repr(axis)) from None
    if 0 <= axis < ndim:
        return axis
    if -ndim <= axis < 0:
        return axis + ndim
    raise ShapeError(f"{function}: there is no axis {axis}", expected=f"{-ndim} to {ndim - 1}", got=axis)


def all_axes(axis: Axes, ndim: int, function: str) -> tuple[int, ...]:
    """The axes counted from the front; every axis where `axis` is None.

    Raises ShapeError if one does not exist or comes twice.
    """
    if axis is None:
        return tuple(range(ndim))
    if isinstance(axis, int):
        return (one_axis(axis, ndim, function),)
    try:
        axes = tuple([one_axis(a, ndim, function) for a in axis])
    except TypeError:
        raise DtypeError(f"{function}: axis must be a number, several or None", got=repr(axis)) from None
    if len(set(axes)) != len(axes):
        raise ShapeError(f"{function}: an axis comes twice", got=tuple(axis))
    return axes


def kept_shape(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with size 1 at `axes`: what a reduction with keepdims gives."""
    return tuple([1 if i in axes else size for i, size in enumerate(shape)])
