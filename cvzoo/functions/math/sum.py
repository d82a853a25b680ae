"""Sums, means and products along axes."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.sums import sum_along
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.axes import Axes, all_axes, kept_shape
from cvzoo.functions.array.broadcast_to import broadcast_to
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.array.transpose import transpose
from cvzoo.functions.array.where import where
from cvzoo.functions.math.divide import divide
from cvzoo.functions.math.multiply import multiply
from cvzoo.typing.aliases import Array


class Sum(FunctionNode):
    in_float32 = True

    def __init__(self, axis: Axes, keepdims: bool):
        self.axis = axis
        self.keepdims = keepdims

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        backend_of(x)
        self.axes = all_axes(self.axis, x.ndim, "sum")
        return (sum_along(x, self.axes, keepdims=self.keepdims),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        (gy,) = gys
        shape = self.inputs[0].shape
        if not self.keepdims:
            gy = reshape(gy, kept_shape(shape, self.axes))
        return (broadcast_to(gy, shape),)


def sum(x: Variable | Array, axis: Axes = None, keepdims: bool = False) -> Variable:
    """The sum of x along `axis`.

    axis: one axis, several, or None for all
    keepdims: the summed axes stay, with size 1
    Raises ShapeError if an axis is out of range.
    """
    return Sum(axis, keepdims).apply((x,))[0]


def average(
    x: Variable | Array, axis: Axes = None, weights: Variable | Array | None = None, keepdims: bool = False
) -> Variable:
    """The mean of x along `axis`, weighted by `weights` if given.

    axis: one axis, several, or None for all
    weights: of x's shape, or one number for each place of the axes averaged; same dtype as x
    keepdims: the averaged axes stay, with size 1
    Raises ShapeError if an axis is out of range, the weights do not fit, or there is nothing to average.
    """
    x = as_variable(x)
    shape = x.shape
    axes = all_axes(axis, len(shape), "average")
    count = 1
    for i in axes:
        count *= shape[i]
    if not count:
        raise ShapeError("average: there is nothing to average", got=shape)
    if weights is None:
        return divide(sum(x, axes, keepdims), count)
    weights = as_variable(weights)
    places = tuple([shape[i] for i in sorted(axes)])
    if weights.shape == places:
        weights = reshape(weights, tuple([size if i in axes else 1 for i, size in enumerate(shape)]))
    elif weights.shape != shape:
        raise ShapeError("average: weights do not fit x", expected=f"{shape} or {places}", got=weights.shape)
    total = sum(broadcast_to(weights, shape), axes, keepdims)
    return divide(sum(multiply(x, weights), axes, keepdims), total)


def mean(x: Variable | Array, axis: Axes = None, keepdims: bool = False) -> Variable:
    """The mean of x along `axis`: `average` without weights."""
    return average(x, axis, None, keepdims)


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


def prod(x: Variable | Array, axis: Axes = None, keepdims: bool = False) -> Variable:
    """The product of x along `axis`; arguments as of `sum`.

    Its gradient is exact at zeros and takes n * n values for products of n: it is meant for short axes.
    Raises ShapeError if an axis is out of range.
    """
    return Prod(axis, keepdims).apply((x,))[0]
