"""A sum and the rectifier behind it in one pass over memory."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.backends.dispatch import backend_of


class AddReLU(FunctionNode):
    """a and b of one shape to max(a + b, 0). It is never part of a graph.

    What is NaN before relu may be 0 behind it.
    """

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        a, b = inputs
        return (backend_of(a).add_relu(a, b),)
