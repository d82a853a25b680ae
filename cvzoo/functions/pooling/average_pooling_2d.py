"""Average pooling over windows, and over all of a map."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.pooling.pool_window import pool_window
from cvzoo.typing.aliases import Array

Sizes = int | Sequence[int]


class AveragePooling2D(FunctionNode):
    """x (B, C, H, W) to (B, C, OH, OW)."""

    def __init__(self, window: dict[str, Any], count_pad: bool):
        self._window = window
        self._count_pad = count_pad

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        self._size = x.shape[2:]
        return (backend_of(x).average_pool_2d(x, count_pad=self._count_pad, **self._window),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        return AveragePooling2DGrad(self._window, self._count_pad, self._size).apply(gys)


class AveragePooling2DGrad(FunctionNode):
    """gy (B, C, OH, OW) to gx (B, C, *size)."""

    def __init__(self, window: dict[str, Any], count_pad: bool, size: Sequence[int]):
        self._window = window
        self._count_pad = count_pad
        self._size = tuple(size)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (gy,) = inputs
        shape = gy.shape[:2] + self._size
        return (backend_of(gy).average_pool_2d_grad(gy, shape, count_pad=self._count_pad, **self._window),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        return AveragePooling2D(self._window, self._count_pad).apply(gys)


def average_pooling_2d(
    x: Variable | Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    *,
    count_pad: bool = True,
    cover_all: bool = False,
) -> Variable:
    """The mean of each window: (B, C, OH, OW).

    x: (B, C, H, W)
    ksize: a number or (rows, columns)
    stride: likewise; None for ksize, so that windows touch
    pad: zeros around x; a number, (rows, columns) or (top, bottom, left, right)
    count_pad: padded zeros count in the mean; else each sum is divided by the number of pixels in the window
    cover_all: one place more at the end where pixels would be left over
    Raises ShapeError if x is not 4-D or the window does not fit.
    """
    x = as_variable(x)
    window = pool_window(x, ksize, stride, pad, cover_all, function="average_pooling_2d")
    return AveragePooling2D(window, count_pad).apply((x,))[0]


def global_average_pooling_2d(x: Variable | Array) -> Variable:
    """The mean of each channel of x (B, C, H, W): (B, C).

    Raises ShapeError if x is not 4-D, ValueRangeError if it has no pixels.
    """
    x = as_variable(x)
    window = pool_window(x, x.shape[2:], 1, 0, False, function="global_average_pooling_2d")
    return reshape(AveragePooling2D(window, True).apply((x,))[0], x.shape[:2])
