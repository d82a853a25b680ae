"""The loss of box offsets: absolute differences, rounded off near zero."""

from typing import Any

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.loss.huber_loss import huber_loss
from cvzoo.functions.math.multiply import multiply


@on_device_of_arguments
def smooth_l1(x: Any, t: Any, *, beta: float = 1.0, reduce: str = "mean") -> Variable:
    """d**2 / (2 * beta) where |d| < beta, else |d| - beta / 2, for d = x - t: a number, or x's shape.

    x, t: of one shape and dtype
    reduce: "mean", "sum" or "no"
    Raises ShapeError or DtypeError if x and t differ, ValueRangeError if beta is not positive.
    Source: Girshick, "Fast R-CNN", 2015, equation 3 (beta = 1).
    """
    loss = huber_loss(x, t, beta, reduce)
    return loss if beta == 1 else multiply(loss, 1.0 / beta)
