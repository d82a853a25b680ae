"""A link with a single parameter."""

from cvzoo.autodiff.parameter import Parameter as ParameterVariable
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.util.identity import identity
from cvzoo.links.link import Link
from cvzoo.typing.aliases import Array


class Parameter(Link):
    """A link that returns its parameter W. In a custom link a `cvzoo.Parameter` is enough.

    array: initial W
    """

    def __init__(self, array: Array):
        super().__init__()
        with self.init_scope():
            self.W = ParameterVariable(array)

    def forward(self) -> Variable:
        """W."""
        return identity(self.W)
