"""Element-wise arithmetic of two arrays, or of an array and a number."""

import operator
from collections.abc import Callable

import numpy as np

from cvzoo.typing.aliases import Array

__all__ = ["arithmetic", "arithmetic_constant"]

# of an array module with NumPy's names
PAIRS: dict[str, Callable] = {
    "subtract": lambda xp, a, b: xp.subtract(a, b),
    "divide": lambda xp, a, b: xp.divide(a, b),
    "maximum": lambda xp, a, b: xp.maximum(a, b),
    "minimum": lambda xp, a, b: xp.minimum(a, b),
    "power": lambda xp, a, b: xp.power(a, b),
}
CONSTANTS: dict[str, Callable] = {
    "add": operator.add,
    "subtract": operator.sub,
    "subtract_from": lambda x, value: value - x,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "divide_by": lambda x, value: value / x,
    "power": operator.pow,
    "power_of": lambda x, value: value**x,
}


def arithmetic(operation: str, a: Array, b: Array) -> Array:
    """See `AbstractBackend.arithmetic`."""
    return PAIRS[operation](np, a, b)


def arithmetic_constant(operation: str, x: Array, value: float | np.number) -> Array:
    """See `AbstractBackend.arithmetic_constant`."""
    return CONSTANTS[operation](x, value)
