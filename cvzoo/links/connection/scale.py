"""A learned factor and a learned shift along some axes."""

from collections.abc import Sequence

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.axes import reshape
from cvzoo.links.chain import Chain
from cvzoo.links.link import Link
from cvzoo.typing.aliases import Array


def aligned_shape(x_shape: Sequence[int], shape: Sequence[int], axis: int, *, function: str) -> tuple[int, ...]:
    """`shape` padded with ones, so that its axes match x's axes `axis`, `axis` + 1, ... and broadcast over the others.

    Raises ShapeError, naming `function`, if the sizes differ.
    """
    x_shape, shape = tuple(x_shape), tuple(shape)
    start = axis + len(x_shape) if axis < 0 else axis
    if not 0 <= start <= len(x_shape) - len(shape) or x_shape[start : start + len(shape)] != shape:
        raise ShapeError(
            f"{function}: the parameter does not fit x from axis {axis} on",
            expected=f"x's sizes {x_shape[max(start, 0) :][: len(shape)]} of {x_shape}",
            got=shape,
        )
    return (1,) * start + shape + (1,) * (len(x_shape) - start - len(shape))


class Bias(Link):
    """x + b, where b's axes match x's axes from `axis` on.

    axis: the first axis of x that b has
    shape: b's shape; initially 0; None for no parameter: b is then the second argument
    """

    def __init__(self, axis: int = 1, shape: Sequence[int] | None = None):
        self.axis = axis
        with self.init_scope():
            self.b = None if shape is None else Parameter(0, tuple(shape))

    def forward(self, x: Variable | Array, *ys: Variable | Array) -> Variable:
        """x's shape.

        ys: nothing, or one array (without a parameter) to add
        """
        b = ys[0] if self.b is None else self.b
        return as_variable(x) + reshape(b, aligned_shape(x.shape, b.shape, self.axis, function="Bias"))


class Scale(Chain):
    """x * W (+ b), where W's axes match x's axes from `axis` on.

    axis: the first axis of x that W has
    W_shape: W's shape; initially 1; None for no parameter: W is then the second argument
    bias_term: whether there is a child `bias` with a parameter b
    bias_shape: b's shape, W_shape by default
    """

    def __init__(
        self,
        axis: int = 1,
        W_shape: Sequence[int] | None = None,
        bias_term: bool = False,
        bias_shape: Sequence[int] | None = None,
    ):
        self.axis = axis
        with self.init_scope():
            self.W = None if W_shape is None else Parameter(1, tuple(W_shape))
            shape = W_shape if bias_shape is None else bias_shape
            self.bias = Bias(axis, shape) if bias_term else None

    def forward(self, x: Variable | Array, *ys: Variable | Array) -> Variable:
        """x's shape.

        ys: without a parameter W, the factor; without a parameter b too, then the shift
        """
        rest = list(ys)
        W = rest.pop(0) if self.W is None else self.W
        y = as_variable(x) * reshape(W, aligned_shape(x.shape, W.shape, self.axis, function="Scale"))
        return y if self.bias is None else self.bias(y, *rest)
