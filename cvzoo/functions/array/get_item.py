"""Indexing, and its transpose: adding values at indices."""

from typing import Any

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.arrays import is_array
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.functions.array.dtypes import agreed_pair
from cvzoo.typing.aliases import Array


def _index(slices: Any) -> tuple[tuple, bool]:
    """The index as a tuple, and whether it is made of slices and numbers only, which name no element twice."""
    parts = slices if isinstance(slices, tuple) else (slices,)
    index = [_part(part) for part in parts]
    return tuple(index), not any(is_array(part) for part in index)


def _part(part: Any) -> Any:
    if part is None or part is Ellipsis or isinstance(part, slice):
        return part
    if isinstance(part, int | np.integer) and not isinstance(part, bool):
        return int(part)
    array = as_array(part)
    if isinstance(array, list | tuple | bool | np.bool_):
        array = np.asarray(array, np.intp if not np.size(array) else None)
    known = is_array(array)
    if not known or array.dtype.kind not in "iub":
        raise DtypeError(
            "x[...] takes integers, slices, None, ... or arrays of integers or booleans",
            got=array.dtype if known else repr(part),
        )
    return array


def _look_up(x: Any, index: tuple) -> Any:
    try:
        return backend_of(x).take(x, index)
    except IndexError as error:
        raise ShapeError(f"x[...]: invalid index: {error}", got=f"shape {x.shape}") from None


class GetItem(FunctionNode):
    def __init__(self, index: tuple, basic: bool):
        self.index = index
        self.basic = basic

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        return (_look_up(x, self.index),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        x = self.inputs[0]
        return GetItemGrad(self.index, self.basic, x.shape).apply(gys)


class GetItemGrad(FunctionNode):
    """Zeros with the gradient added into the places picked."""

    def __init__(self, index: tuple, basic: bool, shape: tuple[int, ...]):
        self.in_float32 = not basic  # basic indexing does not accumulate
        self.index = index
        self.basic = basic
        self.shape = shape

    def forward(self, inputs: tuple) -> tuple:
        (gy,) = inputs
        backend = backend_of(gy)
        gx = backend.zeros(self.shape, gy.dtype)
        if self.basic:
            gx[self.index] = gy
        else:
            backend.add_at(gx, self.index, gy)
        return (gx,)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        return GetItem(self.index, self.basic).apply(gys)


class ScatterAdd(FunctionNode):
    in_float32 = True

    def __init__(self, index: tuple, basic: bool):
        self.index = index
        self.basic = basic

    def forward(self, inputs: tuple) -> tuple:
        a, b = inputs
        backend_of(b)
        backend = backend_of(a)
        if a.dtype != b.dtype:
            raise DtypeError("scatter_add: both arrays must have one dtype", got=f"{a.dtype} and {b.dtype}")
        place = _look_up(a, self.index)
        if place.shape != b.shape:
            raise ShapeError("scatter_add: b has another shape than a[slices]", expected=place.shape, got=b.shape)
        y = a.copy(order="K")
        if self.basic:
            y[self.index] += b
        else:
            backend.add_at(y, self.index, b)
        return (y,)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        return tuple([GetItem(self.index, self.basic).apply(gys)[0] if i else gys[0] for i in indexes])


def get_item(x: Variable | Array, slices: Any) -> Variable:
    """x[slices] by NumPy's rules: a view for slices and integers, a copy for arrays of indices or booleans.

    On a GPU indices are not checked: those out of range wrap around. Boolean masks synchronize the GPU.
    Raises ShapeError if the index does not fit x, DtypeError if it is not an index.
    """
    return GetItem(*_index(slices)).apply((x,))[0]


def scatter_add(a: Variable | Array, slices: Any, b: Variable | Array) -> Variable:
    """A copy of a with b added into a[slices]; places named twice are added to twice.

    Raises ShapeError if b does not have the shape of a[slices], DtypeError if dtypes differ.
    """
    return ScatterAdd(*_index(slices)).apply(agreed_pair(a, b))[0]
