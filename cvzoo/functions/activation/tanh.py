"""The hyperbolic tangent."""

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.math.elementwise import AbstractElementwiseOfOutput
from cvzoo.typing.aliases import Array


class Tanh(AbstractElementwiseOfOutput):
    kind = "tanh"

    def slope(self, y: Variable) -> Variable:
        return 1 - y * y


def tanh(x: Variable | Array) -> Variable:
    """The hyperbolic tangent of x."""
    return Tanh().apply((x,))[0]
