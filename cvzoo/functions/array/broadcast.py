"""Repeating an array along axes of size 1, and its transpose: summing back to the smaller shape."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_float
from cvzoo.backends.sums import sum_along
from cvzoo.errors.exceptions import ShapeError
from cvzoo.typing.aliases import Array

Shape = tuple[int, ...]


def _fits(small: Shape, large: Shape) -> bool:
    tail = large[len(large) - len(small) :]
    return len(small) <= len(large) and all(m == n or m == 1 for m, n in zip(small, tail))


class BroadcastTo(FunctionNode):
    def __init__(self, shape: Shape):
        self.shape = shape

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        xp = backend_of(x).xp
        if not _fits(x.shape, self.shape):
            raise ShapeError(
                "broadcast_to: the shape cannot be repeated to the other",
                expected=f"equal sizes, or 1, axis by axis from the last axis of {self.shape}",
                got=x.shape,
            )
        return (xp.broadcast_to(x, self.shape),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return (sum_to(gys[0], self.inputs[0].shape),)


class SumTo(FunctionNode):
    in_float32 = True

    def __init__(self, shape: Shape):
        self.shape = shape

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        backend = backend_of(x)
        shape = self.shape
        if not _fits(shape, x.shape):
            raise ShapeError(
                "sum_to: the shape is not one that repeats to x's",
                expected=f"equal sizes, or 1, axis by axis from the last axis of {x.shape}",
                got=shape,
            )
        lead = x.ndim - len(shape)
        axes = (*range(lead), *[i + lead for i, size in enumerate(shape) if size == 1 and x.shape[i + lead] != 1])
        if x.ndim == 4 and axes == (0, 2, 3) and is_float(x.dtype):
            return (backend.channel_sum(x).reshape(shape),)
        return (sum_along(x, axes, keepdims=True).reshape(shape),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return BroadcastTo(self.inputs[0].shape).apply(gys)


def broadcast_to(x: Variable | Array, shape: Shape) -> Variable:
    """x repeated to `shape` by NumPy's rules; a view.

    Raises ShapeError if x's shape does not repeat to `shape`.
    """
    x = as_variable(x)
    shape = tuple(shape)
    return x if x.shape == shape else BroadcastTo(shape).apply((x,))[0]


def sum_to(x: Variable | Array, shape: Shape) -> Variable:
    """x summed over the axes that `broadcast_to` from `shape` to x's shape would repeat.

    Raises ShapeError if `shape` does not repeat to x's shape.
    """
    x = as_variable(x)
    return x if x.shape == shape else SumTo(tuple(shape)).apply((x,))[0]


def broadcast(*xs: Variable | Array) -> tuple[Variable, ...]:
    """The arrays, each repeated to the shape that all of them broadcast to; views.

    Raises ShapeError if they do not broadcast.
    """
    xs = tuple([as_variable(x) for x in xs])
    ndim = max((x.ndim for x in xs), default=0)
    shape = []
    for i in range(-ndim, 0):
        sizes = {x.shape[i] for x in xs if x.ndim >= -i} - {1}
        if len(sizes) > 1:
            raise ShapeError(
                "broadcast: the shapes do not broadcast",
                expected="equal sizes, or 1, axis by axis from the last",
                got=", ".join(str(x.shape) for x in xs),
            )
        shape.append(sizes.pop() if sizes else 1)
    return tuple([broadcast_to(x, tuple(shape)) for x in xs])
