"""A function's backward as a function: what is computed there without functions is recorded as one."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import variables_of
from cvzoo.config.switches import no_backprop_mode


class GradientOf(FunctionNode):
    """What `of` retained for its backward, inputs first, then the gradients of its outputs, to those of its inputs.

    of: a function that was applied
    indexes: of which of its inputs gradients are wanted
    given: for which of its outputs there are gradients
    """

    def __init__(self, of: FunctionNode, indexes: tuple[int, ...], given: tuple[bool, ...]):
        self.of = of
        self.indexes = indexes
        self.given = given
        self.kept_inputs = tuple(of._retained_inputs or ())
        self.kept_outputs = tuple(of._retained_outputs or ())

    @property
    def label(self) -> str:
        return f"gradient of {self.of.label}"

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        of, n = self.of, len(self.kept_inputs)
        gys = iter(variables_of(inputs[n + len(self.kept_outputs) :]))
        of._retained_inputs = dict(zip(self.kept_inputs, inputs))
        of._retained_outputs = dict(zip(self.kept_outputs, inputs[n:]))
        try:
            with no_backprop_mode():
                gxs = of.backward(self.indexes, tuple([next(gys) if given else None for given in self.given]))
        finally:
            of._retained_inputs = of._retained_outputs = None  # type: ignore[assignment]
        return tuple([gx._array for gx in gxs if gx is not None])
