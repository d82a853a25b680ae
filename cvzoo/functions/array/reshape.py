"""The same values in another shape."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ShapeError


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


def reshape(x: Variable | Any, shape: int | tuple[int, ...]) -> Variable:
    """The values of x, in row-major order, in another shape; a view where memory order allows.

    shape: sizes, of which one may be -1: what is left over
    Raises ShapeError if the number of values differs.
    """
    return Reshape((shape,) if isinstance(shape, int) else tuple(shape)).apply((x,))[0]
