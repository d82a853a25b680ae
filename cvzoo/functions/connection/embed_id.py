"""Embedding: rows of a table by index."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.backends.arrays import range_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array


class EmbedID(FunctionNode):
    """W (L, D) to its rows `ids`; a row of zeros where `mask` is False."""

    def __init__(self, ids: Array, mask: Array | None):
        self._ids = ids
        self._mask = mask

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (W,) = inputs
        self._shape = W.shape
        return (backend_of(W).embed_id(W, self._ids, self._mask),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return EmbedIDGrad(self._ids, self._mask, self._shape).apply(gys)


class EmbedIDGrad(FunctionNode):
    """gy (..., D) to gW of `shape`: each row of gy added to W's row."""

    in_float32 = True

    def __init__(self, ids: Array, mask: Array | None, shape: tuple[int, ...]):
        self._ids = ids
        self._mask = mask
        self._shape = shape

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (gy,) = inputs
        return (backend_of(gy).embed_id_grad(gy, self._ids, self._mask, self._shape),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return EmbedID(self._ids, self._mask).apply(gys)


@on_device_of_arguments
def embed_id(x: Variable | Array, W: Variable | Array, ignore_label: int | None = None) -> Variable:
    """Embedding: the rows of W at the indices x, (..., D).

    x: integers of any shape, 0 to L - 1
    W: (L, D)
    ignore_label: index for which the row is zeros
    Raises DtypeError if x is not of integers, ShapeError if W is not (L, D), ValueRangeError if x is out of range; on a
    GPU x is not checked, and such a row is NaN.
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
    (ids,) = backend_of(W.array).as_index((ids,))
    mask = None if ignore_label is None else ids != ignore_label
    extremes = range_of(ids)
    if extremes is None or (extremes[0] >= 0 and extremes[1] < W.shape[0]):
        return EmbedID(ids, mask).apply((W,))[0]
    bad = (ids < 0) | (ids >= W.shape[0])
    if mask is not None:
        bad &= mask
    if bad.any():
        first = tuple([int(i) for i in xp.unravel_index(int(bad.argmax()), ids.shape)])
        raise ValueRangeError(
            "embed_id: x names a row that W does not have",
            expected=f"0 to {W.shape[0] - 1}",
            got=f"{ids[first]} at {first}",
        )
    return EmbedID(ids, mask).apply((W,))[0]
