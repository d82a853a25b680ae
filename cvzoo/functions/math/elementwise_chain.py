"""Several element-wise functions in one pass over memory."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.backends.dispatch import backend_of


class ElementwiseChain(FunctionNode):
    """x and the other operands, in order, to x after all steps. It has no gradient: passes over graphs put it there.

    steps: as the backends' `chain` takes them
    """

    def __init__(self, steps: Sequence[tuple]):
        self.steps = tuple(steps)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x, *others = inputs
        return (backend_of(x).chain(x, self.steps, others),)
