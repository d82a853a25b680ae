"""The maximum of each channel's plane."""

from typing import Any

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.config.switches import switches
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.pooling.max_pooling_2d import MaxPooling2D
from cvzoo.functions.pooling.pool_window import pool_window


def global_max_pooling_2d(x: Any) -> Variable:
    """The maximum of each channel of x (B, C, H, W): (B, C).

    Raises ShapeError if x is not 4-D, ValueRangeError if it has no pixels.
    """
    x = as_variable(x)
    window = pool_window(x, x.shape[2:], 1, 0, False, function="global_max_pooling_2d")
    y = MaxPooling2D(window, x.requires_grad and switches.enable_backprop).apply((x,))[0]
    return reshape(y, x.shape[:2])
