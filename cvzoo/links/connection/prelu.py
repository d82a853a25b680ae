"""A parametric rectified linear unit."""

from collections.abc import Sequence

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.activation.relu import prelu
from cvzoo.links.link import InitialValue, Link
from cvzoo.typing.aliases import Array


class PReLU(Link):
    """x where x > 0, else W * x, with a learned slope W.

    shape: W's shape: () for one slope, (C,) for one per channel; it is matched with the axes after the batch
    init: initial W
    Source: He et al., Delving Deep into Rectifiers, ICCV 2015.
    """

    def __init__(self, shape: Sequence[int] = (), init: InitialValue = 0.25):
        with self.init_scope():
            self.W = Parameter(init, shape)

    def forward(self, x: Variable | Array) -> Variable:
        """x's shape; x is (B, ...)."""
        return prelu(x, self.W)
