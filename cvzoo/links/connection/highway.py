"""Highway layer."""

from collections.abc import Callable

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.activation.relu import relu
from cvzoo.functions.activation.sigmoid import sigmoid
from cvzoo.links.chain import Chain
from cvzoo.links.connection.linear import Linear
from cvzoo.links.link import InitialValue
from cvzoo.typing.aliases import Array


class Highway(Chain):
    """t * activate(plain(x)) + (1 - t) * x, with t = sigmoid(transform(x)).

    in_out_size: the length of input and output rows
    nobias: no biases
    activate: activation after `plain`
    init_Wh, init_bh: initial values of `plain`; LeCunNormal and 0 by default
    init_Wt, init_bt: initial values of `transform`; LeCunNormal and -1 by default, so that most of x passes unchanged

    Source: Srivastava, Greff and Schmidhuber, "Highway networks", 2015.
    """

    def __init__(
        self,
        in_out_size: int,
        nobias: bool = False,
        activate: Callable[[Variable], Variable] = relu,
        init_Wh: InitialValue = None,
        init_Wt: InitialValue = None,
        init_bh: InitialValue = None,
        init_bt: InitialValue = -1,
    ):
        super().__init__()
        self.activate = activate
        with self.init_scope():
            self.plain = Linear(in_out_size, in_out_size, nobias, init_Wh, init_bh)
            self.transform = Linear(in_out_size, in_out_size, nobias, init_Wt, init_bt)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, in_out_size) of x (B, in_out_size)."""
        gate = sigmoid(self.transform(x))
        return self.activate(self.plain(x)) * gate + (1 - gate) * x
