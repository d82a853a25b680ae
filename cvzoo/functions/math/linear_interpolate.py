"""Between two arrays."""

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.math.add import add, subtract
from cvzoo.functions.math.multiply import multiply
from cvzoo.typing.aliases import Array


def linear_interpolate(p: Variable | Array, x: Variable | Array, y: Variable | Array) -> Variable:
    """p * x + (1 - p) * y, element by element; shapes broadcast."""
    return add(multiply(p, x), multiply(subtract(1, p), y))
