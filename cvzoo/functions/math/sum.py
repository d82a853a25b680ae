"""Sums, means, products and Euclidean norms along axes, and cumulative sums."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.sums import running_sum, sum_along
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.axes import Axes, all_axes, kept_shape, one_axis, reshape, transpose
from cvzoo.functions.array.broadcast import broadcast_to
from cvzoo.functions.array.dtypes import floating_backend
from cvzoo.functions.array.flip import flip
from cvzoo.functions.array.indexing import where
from cvzoo.functions.math.arithmetic import divide, multiply
from cvzoo.functions.math.exponential import exp
from cvzoo.functions.math.power import square
from cvzoo.typing.aliases import Array


class Sum(FunctionNode):
    in_float32 = True

    def __init__(self, axis: Axes, keepdims: bool):
        self.axis = axis
        self.keepdims = keepdims

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        backend_of(x)
        self.axes = all_axes(self.axis, x.ndim, "sum")
        return (sum_along(x, self.axes, keepdims=self.keepdims),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
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
    weights: of x's shape, or one number for each position along the averaged axes; same dtype as x
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

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        backend_of(x)
        self.axes = all_axes(self.axis, x.ndim, "prod")
        self.retain_inputs((0,))
        return (x.prod(self.axes, keepdims=self.keepdims),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        (x,) = self.get_retained_inputs()
        gy = broadcast_to(reshape(gys[0], kept_shape(x.shape, self.axes)), x.shape)
        return (gy * self._others(x),)

    def _others(self, x: Variable) -> Variable:
        """For each element the product of all others of the same result; exact where x is 0, too."""
        xp = x.xp
        stay = [i for i in range(x.ndim) if i not in self.axes]
        order = [*stay, *self.axes]
        moved = transpose(x, order)
        lead = moved.shape[: len(stay)]
        n = 1
        for i in self.axes:
            n *= x.shape[i]
        # the quotient of the product and x would be NaN where x is 0; n * n values are the price
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


class LogSumExp(FunctionNode):
    in_float32 = True

    def __init__(self, axis: Axes):
        self.axis = axis

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
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

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        (x,) = self.get_retained_inputs()
        (y,) = self.get_retained_outputs()
        shape = kept_shape(x.shape, self.axes)
        # the softmax; by the output, which is at least x, so that exp cannot overflow
        share = exp(x - broadcast_to(reshape(y, shape), x.shape))
        return (broadcast_to(reshape(gys[0], shape), x.shape) * share,)


def logsumexp(x: Variable | Array, axis: Axes = None) -> Variable:
    """log(sum(exp(x))) along `axis`: one axis, several, or None for all.

    Raises ShapeError if an axis is out of range or nothing to sum.
    """
    return LogSumExp(axis).apply((x,))[0]


class Norm(FunctionNode):
    in_float32 = True

    def __init__(self, axis: Axes, keepdims: bool):
        self.axis = axis
        self.keepdims = keepdims

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        xp = floating_backend(x, "norm").xp
        self.axes = all_axes(self.axis, x.ndim, "norm")
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        return (xp.sqrt(sum_along(x * x, self.axes, keepdims=self.keepdims)),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
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
    """x divided by its Euclidean norm along `axis` plus `eps`."""
    x = as_variable(x)
    length = norm(x, axis, keepdims=True) + eps
    return x / broadcast_to(length, x.shape)


def batch_l2_norm_squared(x: Variable | Array) -> Variable:
    """(B,): the sum of squares of each of the B samples of x (B, ...)."""
    x = as_variable(x)
    return sum(square(x), tuple(range(1, x.ndim)))


class Cumsum(FunctionNode):
    in_float32 = True

    def __init__(self, axis: int):
        self.axis = axis

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        backend_of(x)
        self.axis = one_axis(self.axis, x.ndim, "cumsum")
        return (running_sum(x, self.axis),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        axis = self.axis
        return (flip(cumsum(flip(gys[0], axis), axis), axis),)


def cumsum(x: Variable | Array, axis: int | None = None) -> Variable:
    """Cumulative sums of x along `axis`, each element included; of the flattened x if `axis` is None.

    Raises ShapeError if an axis is out of range.
    """
    return Cumsum(0).apply((reshape(x, (-1,)),))[0] if axis is None else Cumsum(axis).apply((x,))[0]
