"""The fully connected layer of bytes."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.prepared_weights import PreparedWeights
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.connection.byte_variable import Counting, as_bytes
from cvzoo.typing.aliases import Array


class Int8Linear(FunctionNode):
    """Bytes x (N, I) and W (O, I), scale (O,), perhaps b (O,), to scale * (x @ W.T) + b (N, O).

    It is never part of a graph.
    """

    def __init__(self, pack: PreparedWeights | None):
        self._pack = pack

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x, W, scale, *b = inputs
        return (backend_of(x).linear_int8(x, W, scale, b[0] if b else None, pack=self._pack),)


def int8_linear(
    x: Variable | Array,
    W: Variable | Array,
    scale: Any,
    b: Variable | Array | None = None,
    n_batch_axes: int = 1,
    *,
    counting: Counting,
    pack: PreparedWeights | None = None,
) -> Variable:
    """scale * (x as bytes @ W.T) + b: (N, O), or the first n_batch_axes of x and then O; without a gradient.

    x: float32, its axes after the first n_batch_axes flattened to I numbers; counting: what its bytes mean
    W: (O, I) int8; scale: (O,) float32: counting.scale times what each row of W counts in; b: (O,) or None
    pack: a cache of reordered copies of W, which the caller clears when W changes
    Raises ShapeError if the sizes do not fit.
    """
    lead = tuple(x.shape[:n_batch_axes])
    n = i = 1
    for size in lead:
        n *= size
    for size in x.shape[n_batch_axes:]:
        i *= size
    if i != W.shape[1]:
        raise ShapeError("int8_linear: x and W do not fit", expected=f"rows of {W.shape[1]}", got=f"x {x.shape}")
    x = as_bytes(x if len(x.shape) == 2 and n_batch_axes == 1 else reshape(x, (n, i)), counting)
    y = Int8Linear(pack).apply((x, W, scale) if b is None else (x, W, scale, b))[0]
    return y if n_batch_axes == 1 else reshape(y, (*lead, W.shape[0]))
