"""The same elements in another shape."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.axes import Axes, all_axes, one_axis
from cvzoo.typing.aliases import Array


class Reshape(FunctionNode):
    def __init__(self, shape: tuple[int, ...]):
        self.shape = shape

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        backend = backend_of(x)
        try:
            return (backend.reshaped(x, self.shape),)
        except (ValueError, TypeError):
            raise ShapeError(
                f"reshape: {x.size} values do not fit", expected=f"{x.size} values", got=f"{x.shape} to {self.shape}"
            ) from None

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        return (reshape(gys[0], self.inputs[0].shape),)


def reshape(x: Variable | Array, shape: int | tuple[int, ...]) -> Variable:
    """The values of x, in row-major order, in another shape; a view where memory order allows.

    shape: sizes, of which one may be -1, which is inferred
    Raises ShapeError if the number of values differs.
    """
    return Reshape((shape,) if isinstance(shape, int) else tuple(shape)).apply((x,))[0]


def expand_dims(x: Variable | Array, axis: int) -> Variable:
    """x with a new axis of size 1 at `axis`; a view.

    Raises ShapeError if axis is out of range.
    """
    x = as_variable(x)
    axis = one_axis(axis, x.ndim + 1, "expand_dims")
    return reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))


def squeeze(x: Variable | Array, axis: Axes = None) -> Variable:
    """x without the axes `axis`, which must have size 1, or without all axes of size 1; a view.

    Raises ShapeError if an axis is out of range, or its size is not 1.
    """
    x = as_variable(x)
    axes = all_axes(axis, x.ndim, "squeeze")
    if axis is not None and any(x.shape[i] != 1 for i in axes):
        raise ShapeError("squeeze: only axes of size 1 can go", expected=f"size 1 at {axes}", got=x.shape)
    return reshape(x, tuple([size for i, size in enumerate(x.shape) if not (i in axes and size == 1)]))


def flatten(x: Variable | Array) -> Variable:
    """x in one axis, row-major."""
    x = as_variable(x)
    return reshape(x, (-1,)) if x.size else reshape(x, (0,))
