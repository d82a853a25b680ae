"""A fully connected layer."""

from typing import Any

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.connection.linear import linear
from cvzoo.initializers.normal import LeCunNormal
from cvzoo.links.connection.layer_kernel import AbstractLayerKernel
from cvzoo.links.link import Link
from cvzoo.typing.aliases import Array


class Linear(Link):
    """y = x W^T + b.

    in_size: the length of an input row; None (or omitted: Linear(10)): inferred from the first input
    out_size: the length of an output row
    nobias: no `b`
    initialW: initial W (out_size, in_size): an initializer, a number or an array; LeCunNormal by default
    initial_bias: initial b (out_size,); 0 by default
    """

    kernel: AbstractLayerKernel | None = None

    def __init__(
        self,
        in_size: int | None,
        out_size: int | None = None,
        nobias: bool = False,
        initialW: Any = None,
        initial_bias: Any = None,
    ):
        if out_size is None:
            if in_size is None:
                raise ValueRangeError("Linear needs an out_size", expected="Linear(in_size, out_size)")
            out_size, in_size = in_size, None
        self.out_size = out_size
        with self.init_scope():
            self.W = Parameter(LeCunNormal() if initialW is None else initialW)
            if in_size is not None:
                self.W.initialize((out_size, in_size))
            self.b = None if nobias else Parameter(0 if initial_bias is None else initial_bias, out_size)

    def forward(self, x: Variable | Array, n_batch_axes: int = 1) -> Variable:
        """(..., out_size) of x, whose axes after the first `n_batch_axes` are flattened to one."""
        if not self.W.is_initialized:
            in_size = 1
            for size in x.shape[n_batch_axes:]:
                in_size *= size
            self.W.initialize((self.out_size, in_size))
        if self.kernel is not None:
            return self.kernel.multiply(self, x, n_batch_axes)
        return linear(x, self.W, self.b, n_batch_axes=n_batch_axes)
