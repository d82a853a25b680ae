"""A parameter alone as a link."""

from typing import Any

from cvzoo.autodiff.parameter import Parameter as ParameterVariable
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.util.identity import identity
from cvzoo.links.link import Link


class Parameter(Link):
    """A link whose value is its parameter W. In a link of one's own a `cvzoo.Parameter` does as well.

    array: what W starts from
    """

    def __init__(self, array: Any):
        super().__init__()
        with self.init_scope():
            self.W = ParameterVariable(array)

    def forward(self) -> Variable:
        """W."""
        return identity(self.W)  # type: ignore[return-value]  # of one input
