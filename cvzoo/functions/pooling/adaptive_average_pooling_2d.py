"""Adaptive average pooling: a fixed output size for any input size."""

import functools
from collections.abc import Sequence

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.pooling.pooling_2d import average_pooling_2d, pool_window
from cvzoo.shapes.check import pair
from cvzoo.typing.aliases import Array


class WeighRowsAndColumns(FunctionNode):
    """x (B, C, H, W) to rows @ x @ columns.T (B, C, OH, OW), for rows (OH, H) and columns (OW, W)."""

    in_float32 = True

    def __init__(self, rows: np.ndarray, columns: np.ndarray):
        self._rows, self._columns = rows, columns

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        return (backend_of(x).separable_2d(x, self._rows, self._columns),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return WeighRowsAndColumns(self._rows.T, self._columns.T).apply(gys)


@functools.lru_cache(256)
def _means(size: int, out: int) -> np.ndarray:
    """(out, size) float64: row i is the mean over floor(i * size / out) to ceil((i + 1) * size / out)."""
    start = np.arange(out) * size // out
    # integers throughout: ceil of a quotient of floats would be one too large for some sizes
    end = -(-(np.arange(out) + 1) * size // out)
    pixels = np.arange(size)
    inside = (pixels >= start[:, None]) & (pixels < end[:, None])
    return inside / (end - start)[:, None]


def adaptive_average_pooling_2d(x: Variable | Array, outsize: int | Sequence[int]) -> Variable:
    """Adaptive average pooling: the mean of each of OH x OW windows that cover x, (B, C, OH, OW).

    x: (B, C, H, W)
    outsize: a number or (rows, columns), also more than x has
    Window i has the rows floor(i * H / OH) to ceil((i + 1) * H / OH); the columns likewise.
    Raises ShapeError if x is not 4-D, ValueRangeError if outsize is not positive.
    """
    x = as_variable(x)
    oh, ow = pair(outsize, name="outsize", function="adaptive_average_pooling_2d")
    if min(oh, ow) < 1:
        raise ValueRangeError("adaptive_average_pooling_2d: outsize must be positive", got=repr(outsize))
    pool_window(x, 1, 1, 0, False, function="adaptive_average_pooling_2d")
    h, w = x.shape[2:]
    if (oh, ow) == (h, w):
        return x
    if h % oh == 0 and w % ow == 0:
        return average_pooling_2d(x, (h // oh, w // ow))
    return WeighRowsAndColumns(_means(h, oh), _means(w, ow)).apply((x,))[0]
