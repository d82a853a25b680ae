"""A layer of two inputs."""

from typing import Any

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.connection.linear import bilinear
from cvzoo.initializers.normal import LeCunNormal
from cvzoo.links.link import Link


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
        initialW: Any = None,
        initial_bias: Any = None,
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

    def forward(self, e1: Any, e2: Any) -> Variable:
        """(B, out_size) of e1 (B, left_size) and e2 (B, right_size)."""
        return bilinear(e1, e2, self.W, self.V1, self.V2, self.b)
