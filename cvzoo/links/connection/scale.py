"""A learned factor, and maybe a shift."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.functions.array.reshape import reshape
from cvzoo.links.chain import Chain
from cvzoo.links.connection.align_axes import aligned_shape
from cvzoo.links.connection.bias import Bias


class Scale(Chain):
    """x * W (+ b), with W's axes laid on x's axes from `axis` on.

    axis: the first axis of x that W has
    W_shape: W's shape, which starts from 1; None for no parameter: W is then the second argument
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

    def forward(self, x: Any, *ys: Any) -> Variable:
        """x's shape.

        ys: without a parameter W, the factor; without a parameter b too, then the shift
        """
        rest = list(ys)
        W = rest.pop(0) if self.W is None else self.W
        y = as_variable(x) * reshape(W, aligned_shape(x.shape, W.shape, self.axis, function="Scale"))
        return y if self.bias is None else self.bias(y, *rest)
