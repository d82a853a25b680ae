"""Rows of a table, chosen by number."""

from typing import Any

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.there import there
from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.cuda.scatter import add_rows, on_device
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError, ValueRangeError


class EmbedID(FunctionNode):
    """W (L, D) to its rows `ids`; a row of zeros where `seen` is False."""

    def __init__(self, ids: Any, seen: Any):
        self._ids = ids
        self._seen = seen

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (W,) = inputs
        self._shape = W.shape
        xp = backend_of(W).xp
        if is_device_array(W):  # where nothing says that x names no row, the row is NaN
            named = (self._ids >= 0) & (self._ids < len(W))
            rows = xp.where(named[..., None], W[self._ids], W.dtype.type(np.nan))
            rows = rows if self._seen is None else xp.where(self._seen[..., None], rows, W.dtype.type(0))
            return (rows.astype(W.dtype, copy=False),)  # CuPy makes float32 of bfloat16
        if self._seen is None:
            return (W[self._ids],)
        return (xp.where(self._seen[..., None], W[xp.where(self._seen, self._ids, 0)], W.dtype.type(0)),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        return EmbedIDGrad(self._ids, self._seen, self._shape).apply(gys)


class EmbedIDGrad(FunctionNode):
    """gy (..., D) to gW of `shape`: each row of gy added to W's row."""

    in_float32 = True

    def __init__(self, ids: Any, seen: Any, shape: tuple[int, ...]):
        self._ids = ids
        self._seen = seen
        self._shape = shape

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (gy,) = inputs
        backend = backend_of(gy)
        gW = backend.zeros(self._shape, gy.dtype)
        if is_device_array(gy):
            named = self._ids >= 0 if self._seen is None else self._seen & (self._ids >= 0)
            rows = backend.xp.where(named, self._ids, len(gW)).reshape(-1).astype(np.int64)
            add_rows(gW, rows, backend.xp.ascontiguousarray(gy), before=1, places=len(gW))
            return (gW,)
        if self._seen is None:
            backend.xp.add.at(gW, self._ids, gy)
        else:
            backend.xp.add.at(gW, self._ids[self._seen], gy[self._seen])
        return (gW,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        return EmbedID(self._ids, self._seen).apply(gys)


@there
def embed_id(x: Any, W: Any, ignore_label: int | None = None) -> Variable:
    """The rows of W that x names: (..., D).

    x: integers of any shape, 0 to L - 1
    W: (L, D)
    ignore_label: where x is this number the row is zeros
    Raises DtypeError if x is not of integers, ShapeError if W is not (L, D), ValueRangeError if x names no row; on a
    GPU x is not looked at, and such a row is NaN.
    """
    ids = as_array(x)
    W = as_variable(W)
    if W.shape is None:
        raise GraphError("embed_id: W has no value yet", hint="parameter.initialize(shape)")
    xp = backend_of(ids).xp
    if ids.dtype.kind not in "iu":
        raise DtypeError("embed_id: x must be of integers", got=ids.dtype, hint="x.astype('int32')")
    if len(W.shape) != 2:
        raise ShapeError("embed_id: W must be (L, D)", got=W.shape)
    if is_device_array(W.array):
        (ids,) = on_device((ids,))
    seen = None if ignore_label is None else ids != ignore_label
    if is_device_array(W.array):
        return EmbedID(ids, seen).apply((W,))[0]
    bad = (ids < 0) | (ids >= W.shape[0])
    if seen is not None:
        bad &= seen
    if bad.any():
        first = tuple([int(i) for i in xp.unravel_index(int(bad.argmax()), ids.shape)])
        raise ValueRangeError(
            "embed_id: x names a row that W does not have",
            expected=f"0 to {W.shape[0] - 1}",
            got=f"{ids[first]} at {first}",
        )
    return EmbedID(ids, seen).apply((W,))[0]
