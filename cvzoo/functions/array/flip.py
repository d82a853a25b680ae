"""Elements mirrored or shifted along axes."""

import operator
from collections.abc import Sequence

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.axes import all_axes
from cvzoo.functions.array.indexing import get_item
from cvzoo.typing.aliases import Array


def flip(x: Variable | Array, axis: int | Sequence[int] | None = None) -> Variable:
    """x backwards along `axis`, or along every axis; a view.

    Raises ShapeError if an axis is out of range.
    """
    x = as_variable(x)
    axes = all_axes(axis, x.ndim, "flip")
    return get_item(x, tuple([slice(None, None, -1) if i in axes else slice(None) for i in range(x.ndim)]))


def flipud(x: Variable | Array) -> Variable:
    """x backwards along its first axis; a view."""
    return flip(x, 0)


def fliplr(x: Variable | Array) -> Variable:
    """x backwards along its second axis; a view."""
    return flip(x, 1)


class Roll(FunctionNode):
    def __init__(self, shifts: tuple[int, ...], axes: tuple[int, ...]):
        self.shifts = shifts
        self.axes = axes

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        backend = backend_of(x)
        shifts = [(shift % x.shape[axis], axis) for shift, axis in zip(self.shifts, self.axes) if x.shape[axis]]
        shifts = [(shift, axis) for shift, axis in shifts if shift]
        if not shifts or x.ndim != 4 or not x.transpose(0, 2, 3, 1).flags.c_contiguous:
            return (backend.xp.roll(x, self.shifts, self.axes),)
        for shift, axis in shifts:
            rest = (slice(None),) * axis
            x = backend.concat((x[(*rest, slice(-shift, None))], x[(*rest, slice(-shift))]), axis=axis)
        return (x,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return Roll(tuple([-shift for shift in self.shifts]), self.axes).apply(gys)


def roll(x: Variable | Array, shift: int | Sequence[int], axis: int | Sequence[int]) -> Variable:
    """x shifted by `shift` positions along `axis`; what falls off one end comes in at the other.

    shift, axis: a number each, or as many shifts as axes; x's memory format is preserved
    Raises ShapeError if an axis is out of range, one comes twice, or shifts and axes differ in number.
    """
    x = as_variable(x)
    axes = tuple(all_axes(axis, x.ndim, "roll"))
    shifts = tuple(shift) if isinstance(shift, Sequence) else (shift,)
    if len(shifts) != len(axes):
        raise ShapeError("roll: needs one shift for each axis", expected=f"{len(axes)} shifts", got=len(shifts))
    return Roll(tuple([operator.index(each) for each in shifts]), axes).apply((x,))[0]
