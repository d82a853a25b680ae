"""A learned shift."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.functions.array.reshape import reshape
from cvzoo.links.connection.align_axes import aligned_shape
from cvzoo.links.link import Link


class Bias(Link):
    """x + b, with b's axes laid on x's axes from `axis` on.

    axis: the first axis of x that b has
    shape: b's shape, which starts from 0; None for no parameter: b is then the second argument
    """

    def __init__(self, axis: int = 1, shape: Sequence[int] | None = None):
        self.axis = axis
        with self.init_scope():
            self.b = None if shape is None else Parameter(0, tuple(shape))

    def forward(self, x: Any, *ys: Any) -> Variable:
        """x's shape.

        ys: nothing, or one array (without a parameter) to add
        """
        b = ys[0] if self.b is None else self.b
        return as_variable(x) + reshape(b, aligned_shape(x.shape, b.shape, self.axis, function="Bias"))
