"""Euclidean lengths, and vectors divided by theirs."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.sums import sum_along
from cvzoo.functions.array.axes import Axes, all_axes, kept_shape
from cvzoo.functions.array.broadcast_to import broadcast_to
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.math.elementwise import floating_backend
from cvzoo.functions.math.power import square
from cvzoo.functions.math.sum import sum
from cvzoo.typing.aliases import Array


class Norm(FunctionNode):
    in_float32 = True

    def __init__(self, axis: Axes, keepdims: bool):
        self.axis = axis
        self.keepdims = keepdims

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        xp = floating_backend(x, "norm").xp
        self.axes = all_axes(self.axis, x.ndim, "norm")
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        return (xp.sqrt(sum_along(x * x, self.axes, keepdims=self.keepdims)),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        (x,) = self.get_retained_inputs()
        (y,) = self.get_retained_outputs()
        shape = kept_shape(x.shape, self.axes)
        scaled = gys[0] / (y + (y.array == 0).astype(y.dtype))  # a vector of zeros gets gradient 0, not NaN
        return (broadcast_to(reshape(scaled, shape), x.shape) * x,)


def norm(x: Variable | Array, axis: Axes = None, keepdims: bool = False) -> Variable:
    """The square root of the sum of squares along `axis`; arguments as of `sum`. A zero vector has gradient 0.

    Raises ShapeError if an axis is out of range.
    """
    return Norm(axis, keepdims).apply((x,))[0]


def normalize(x: Variable | Array, eps: float = 1e-5, axis: Axes = 1) -> Variable:
    """x divided by its Euclidean length along `axis` plus `eps`."""
    x = as_variable(x)
    length = norm(x, axis, keepdims=True) + eps
    return x / broadcast_to(length, x.shape)


def batch_l2_norm_squared(x: Variable | Array) -> Variable:
    """(B,): the sum of squares of each of the B samples of x (B, ...)."""
    x = as_variable(x)
    return sum(square(x), tuple(range(1, x.ndim)))
