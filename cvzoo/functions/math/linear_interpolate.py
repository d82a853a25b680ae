"""Between two arrays."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.math.add import add, subtract
from cvzoo.functions.math.multiply import multiply


def linear_interpolate(p: Variable | Any, x: Variable | Any, y: Variable | Any) -> Variable:
    """p * x + (1 - p) * y, element by element; shapes broadcast."""
    return add(multiply(p, x), multiply(subtract(1, p), y))
