"""Validation of axes; reshaping and transposing."""

import operator
from collections.abc import Sequence

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.typing.aliases import Array

Axes = int | Sequence[int] | None


def one_axis(axis: int, ndim: int, function: str) -> int:
    """The axis counted from the front.

    Raises ShapeError if an axis is out of range, DtypeError if it is not an integer.
    """
    try:
        axis = operator.index(axis)
    except TypeError:
        raise DtypeError(f"{function}: axis must be an integer", got=repr(axis)) from None
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


class Reshape(FunctionNode):
    def __init__(self, shape: tuple[int, ...]):
        self.shape = shape

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        backend = backend_of(x)
        try:
            return (backend.reshaped(x, self.shape),)
        except (ValueError, TypeError):
            raise ShapeError(
                f"reshape: {x.size} values do not fit", expected=f"{x.size} values", got=f"{x.shape} to {self.shape}"
            ) from None

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return (reshape(gys[0], self.inputs[0].shape),)


def reshape(x: Variable | Array, shape: int | tuple[int, ...]) -> Variable:
    """The values of x, in row-major order, in another shape; a view where memory order allows.

    shape: sizes, of which one may be -1, which is inferred
    Raises ShapeError if the number of values differs.
    """
    return Reshape((shape,) if isinstance(shape, int) else tuple(shape)).apply((x,))[0]


def expand_dims(x: Variable | Array, axis: int) -> Variable:
    """x with a new axis of size 1 at `axis`; a view.

    Raises ShapeError if axis is out of range.
    """
    x = as_variable(x)
    axis = one_axis(axis, x.ndim + 1, "expand_dims")
    return reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))


def squeeze(x: Variable | Array, axis: Axes = None) -> Variable:
    """x without the axes `axis`, which must have size 1, or without all axes of size 1; a view.

    Raises ShapeError if an axis is out of range, or its size is not 1.
    """
    x = as_variable(x)
    axes = all_axes(axis, x.ndim, "squeeze")
    if axis is not None and any(x.shape[i] != 1 for i in axes):
        raise ShapeError("squeeze: only axes of size 1 can go", expected=f"size 1 at {axes}", got=x.shape)
    return reshape(x, tuple([size for i, size in enumerate(x.shape) if not (i in axes and size == 1)]))


def flatten(x: Variable | Array) -> Variable:
    """x in one axis, row-major."""
    x = as_variable(x)
    return reshape(x, (-1,)) if x.size else reshape(x, (0,))


class Transpose(FunctionNode):
    def __init__(self, axes: Sequence[int] | None):
        self.axes = axes

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        backend_of(x)
        axes = self.axes
        if axes is not None:
            self.axes = axes = all_axes(axes, x.ndim, "transpose")
            if len(axes) != x.ndim:
                raise ShapeError("transpose: every axis must come once", expected=f"{x.ndim} axes", got=axes)
        return (x.transpose(axes),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
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
    """x with the axes `source` moved to the positions `destination`, the others in order around them; a view.

    Raises ShapeError if an axis is out of range, or the two differ in length.
    """
    x = as_variable(x)
    sources = all_axes(source, x.ndim, "moveaxis")
    places = all_axes(destination, x.ndim, "moveaxis")
    if len(sources) != len(places):
        raise ShapeError("moveaxis: one destination for each source axis", expected=len(sources), got=len(places))
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
