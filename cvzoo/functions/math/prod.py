"""Products along axes."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.functions.array.axes import Axes, all_axes, kept_shape
from cvzoo.functions.array.broadcast_to import broadcast_to
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.array.transpose import transpose
from cvzoo.functions.array.where import where


class Prod(FunctionNode):
    in_float32 = True

    def __init__(self, axis: Axes, keepdims: bool):
        self.axis = axis
        self.keepdims = keepdims

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        backend_of(x)
        self.axes = all_axes(self.axis, x.ndim, "prod")
        self.retain_inputs((0,))
        return (x.prod(self.axes, keepdims=self.keepdims),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        (x,) = self.get_retained_inputs()
        gy = broadcast_to(reshape(gys[0], kept_shape(x.shape, self.axes)), x.shape)
        return (gy * self._others(x),)

    def _others(self, x: Variable) -> Variable:
        """At each place the product of all others that go into the same result; exact where x is 0, too."""
        xp = x.xp
        stay = [i for i in range(x.ndim) if i not in self.axes]
        order = [*stay, *self.axes]
        moved = transpose(x, order)
        lead = moved.shape[: len(stay)]
        n = 1
        for i in self.axes:
            n *= x.shape[i]
        square = broadcast_to(reshape(moved, (*lead, 1, n)), (*lead, n, n))
        others = prod(where(xp.eye(n, dtype=bool), 1.0, square), -1)  # (..., n), from n * n values
        back = sorted(range(x.ndim), key=order.__getitem__)
        return transpose(reshape(others, moved.shape), back)


def prod(x: Variable | Any, axis: Axes = None, keepdims: bool = False) -> Variable:
    """The product of x along `axis`; arguments as of `sum`.

    Its gradient is exact at zeros and takes n * n values for products of n: it is meant for short axes.
    Raises ShapeError if there is no such axis.
    """
    return Prod(axis, keepdims).apply((x,))[0]
