"""Delegate variables, which stand in the graph for values that are on other ranks."""

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.graph.readers import report_read
from cvzoo.typing.aliases import Array


def new_delegate() -> Variable:
    """A leaf of one element, by which a function without inputs is in the graph."""
    return Variable(np.zeros(1, np.float32))


def zero() -> Array:
    """The array of a delegate variable."""
    return np.zeros(1, np.float32)


def communicated(function: FunctionNode, *xs: Variable | Array) -> tuple[Variable, ...]:
    """`function` of the values; a compiled network is told that it cannot be replayed."""
    report_read("what communicates with other processes")
    return function.apply(tuple([as_variable(x) for x in xs]))
