"""The mean of each channel's plane."""

from typing import Any

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.pooling.average_pooling_2d import AveragePooling2D
from cvzoo.functions.pooling.pool_window import pool_window


def global_average_pooling_2d(x: Any) -> Variable:
    """The mean of each channel of x (B, C, H, W): (B, C).

    Raises ShapeError if x is not 4-D, ValueRangeError if it has no pixels.
    """
    x = as_variable(x)
    window = pool_window(x, x.shape[2:], 1, 0, False, function="global_average_pooling_2d")
    return reshape(AveragePooling2D(window, True).apply((x,))[0], x.shape[:2])
