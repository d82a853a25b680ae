"""A layer whose units are maxima of linear functions."""

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.activation.relu import maxout
from cvzoo.links.chain import Chain
from cvzoo.links.connection.linear import Linear
from cvzoo.links.link import InitialValue
from cvzoo.typing.aliases import Array


class Maxout(Chain):
    """The largest of `pool_size` linear functions of x, for each output.

    in_size: the length of an input row; None: inferred from the first input
    out_size: the length of an output row
    initialW, initial_bias: initial W (out_size * pool_size, in_size) and b of the child `linear`
    Source: Goodfellow et al., Maxout Networks, ICML 2013.
    """

    def __init__(
        self,
        in_size: int | None,
        out_size: int,
        pool_size: int,
        initialW: InitialValue = None,
        initial_bias: InitialValue = None,
    ):
        self.pool_size = pool_size
        with self.init_scope():
            self.linear = Linear(in_size, out_size * pool_size, initialW=initialW, initial_bias=initial_bias)

    def forward(self, x: Variable | Array) -> Variable:
        """(N, out_size) of x (N, in_size)."""
        return maxout(self.linear(x), self.pool_size)
