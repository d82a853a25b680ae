"""Linear layers: of one input, and of two by a tensor."""

from collections.abc import Sequence

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.connection.linear import bilinear, linear
from cvzoo.initializers.normal import LeCunNormal
from cvzoo.links.connection.layer_kernel import AbstractLayerKernel
from cvzoo.links.link import InitialValue, Link
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
        initialW: InitialValue = None,
        initial_bias: InitialValue = None,
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


class Bilinear(Link):
    """y_k = e1 W_k e2 + e1 V1 + e2 V2 + b; see `cvzoo.functions.bilinear`.

    left_size, right_size, out_size: the lengths of rows of e1, of e2 and of the output
    nobias: no V1, V2 and b
    initialW: initial W (left_size, right_size, out_size); LeCunNormal by default
    initial_bias: what (V1, V2, b) start from; LeCunNormal and 0 by default
    Raises ValueRangeError if these are not three.
    """

    def __init__(
        self,
        left_size: int,
        right_size: int,
        out_size: int,
        nobias: bool = False,
        initialW: InitialValue = None,
        initial_bias: Sequence[InitialValue] | None = None,
    ):
        super().__init__()
        start = LeCunNormal()
        if initial_bias is not None and len(initial_bias) != 3:
            raise ValueRangeError("Bilinear: initial_bias must be what V1, V2 and b start from", got=repr(initial_bias))
        V1, V2, b = (start, start, 0) if initial_bias is None else initial_bias
        with self.init_scope():
            self.W = Parameter(start if initialW is None else initialW, (left_size, right_size, out_size))
            self.V1 = None if nobias else Parameter(V1, (left_size, out_size))
            self.V2 = None if nobias else Parameter(V2, (right_size, out_size))
            self.b = None if nobias else Parameter(b, out_size)

    def forward(self, e1: Variable | Array, e2: Variable | Array) -> Variable:
        """(B, out_size) of e1 (B, left_size) and e2 (B, right_size)."""
        return bilinear(e1, e2, self.W, self.V1, self.V2, self.b)
