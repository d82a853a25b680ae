"""The logarithm of a sum of exponentials, without overflow."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.sums import sum_along
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.axes import Axes, all_axes, kept_shape
from cvzoo.functions.array.broadcast_to import broadcast_to
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.math.elementwise import floating_backend
from cvzoo.functions.math.exponential import exp
from cvzoo.typing.aliases import Array


class LogSumExp(FunctionNode):
    in_float32 = True

    def __init__(self, axis: Axes):
        self.axis = axis

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        xp = floating_backend(x, "logsumexp").xp
        self.axes = axes = all_axes(self.axis, x.ndim, "logsumexp")
        if not x.size:
            raise ShapeError("logsumexp: there is nothing to sum", got=x.shape)
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        top = x.max(axes, keepdims=True)
        top = xp.where(xp.isfinite(top), top, 0)  # a row of -inf would give -inf - -inf
        total = sum_along(xp.exp(x - top), axes)
        shape = total.shape
        return (xp.log(total) + top.reshape(shape),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        (x,) = self.get_retained_inputs()
        (y,) = self.get_retained_outputs()
        shape = kept_shape(x.shape, self.axes)
        share = exp(x - broadcast_to(reshape(y, shape), x.shape))
        return (broadcast_to(reshape(gys[0], shape), x.shape) * share,)


def logsumexp(x: Variable | Array, axis: Axes = None) -> Variable:
    """log(sum(exp(x))) along `axis`: one axis, several, or None for all.

    Raises ShapeError if an axis is out of range or nothing to sum.
    """
    return LogSumExp(axis).apply((x,))[0]
