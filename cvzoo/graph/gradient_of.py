"""A function's backward wrapped as a function, for backwards that compute outside of functions."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import variables_of
from cvzoo.config.switches import no_backprop_mode
from cvzoo.typing.aliases import Array


class GradientOf(FunctionNode):
    """Maps the arrays that `of` retained (inputs first) and its output gradients to its input gradients.

    of: an applied function
    indexes: indexes of the inputs whose gradients are requested
    given: for each output, whether it has a gradient
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

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
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
