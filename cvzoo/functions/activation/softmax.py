"""Softmax and log-softmax."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, variables_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.config.switches import switches
from cvzoo.functions.array.axes import one_axis
from cvzoo.functions.array.broadcast import broadcast_to
from cvzoo.functions.array.dtypes import floating_backend, widened
from cvzoo.functions.math.exponential import exp
from cvzoo.functions.math.sum import sum
from cvzoo.typing.aliases import Array


class Softmax(FunctionNode):
    def __init__(self, axis: int):
        self.axis = axis

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        backend = floating_backend(x, "softmax")
        self.axis = one_axis(self.axis, x.ndim, "softmax")
        self.retain_outputs((0,))
        return (backend.softmax(x, axis=self.axis),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        (gy,) = gys
        (y,) = self.get_retained_outputs()
        # double backprop differentiates the gradient, too; otherwise one pass of a kernel is enough
        if switches.enable_backprop:
            gx = gy * y
            return (gx - y * broadcast_to(sum(gx, self.axis, keepdims=True), y.shape),)
        return variables_of((backend_of(y.array).softmax_grad(gy.array, y.array, axis=self.axis),))


class LogSoftmax(FunctionNode):
    def __init__(self, axis: int):
        self.axis = axis

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        backend = floating_backend(x, "log_softmax")
        self.axis = one_axis(self.axis, x.ndim, "log_softmax")
        self.retain_outputs((0,))
        return (backend.log_softmax(x, axis=self.axis),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        (gy,) = gys
        (y,) = self.get_retained_outputs()
        if switches.enable_backprop:
            return (gy - exp(y) * broadcast_to(sum(gy, self.axis, keepdims=True), y.shape),)
        return variables_of((backend_of(y.array).log_softmax_grad(gy.array, y.array, axis=self.axis),))


def softmax(x: Variable | Array, axis: int = 1) -> Variable:
    """exp(x) / sum(exp(x)) along `axis`, without overflow; 16-bit floats are computed in float32.

    Raises ShapeError if an axis is out of range.
    """
    return Softmax(axis).apply((widened(x),))[0]


def log_softmax(x: Variable | Array, axis: int = 1) -> Variable:
    """The logarithm of `softmax`, without overflow; 16-bit floats are computed in float32.

    Raises ShapeError if an axis is out of range.
    """
    return LogSoftmax(axis).apply((widened(x),))[0]
