"""Running sums."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.sums import running_sum
from cvzoo.functions.array.axes import one_axis
from cvzoo.functions.array.flip import flip
from cvzoo.functions.array.reshape import reshape
from cvzoo.typing.aliases import Array


class Cumsum(FunctionNode):
    in_float32 = True

    def __init__(self, axis: int):
        self.axis = axis

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        backend_of(x)
        self.axis = one_axis(self.axis, x.ndim, "cumsum")
        return (running_sum(x, self.axis),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        axis = self.axis
        return (flip(cumsum(flip(gys[0], axis), axis), axis),)


def cumsum(x: Variable | Array, axis: int | None = None) -> Variable:
    """The sums of x up to and with each element along `axis`; of the flattened x where `axis` is None.

    Raises ShapeError if an axis is out of range.
    """
    return Cumsum(0).apply((reshape(x, (-1,)),))[0] if axis is None else Cumsum(axis).apply((x,))[0]
