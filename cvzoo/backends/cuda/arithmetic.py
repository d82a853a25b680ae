"""Element-wise arithmetic of two arrays, or of an array and a number."""

import numpy as np

from cvzoo.backends.cuda.elementwise import elementwise
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.float_types import is_float
from cvzoo.backends.numpy.arithmetic import CONSTANTS, PAIRS
from cvzoo.typing.aliases import Array

__all__ = ["arithmetic", "arithmetic_constant"]

_PAIRS = {
    "subtract": "y = x0 - x1;",
    "divide": "y = x0 / x1;",
    "maximum": "y = x1 > x0 || x1 != x1 ? x1 : x0;",
    "minimum": "y = x1 < x0 || x1 != x1 ? x1 : x0;",
    "power": "y = pow(x0, x1);",
}
_CONSTANTS = {
    "add": "y = x0 + n0;",
    "subtract": "y = x0 - n0;",
    "subtract_from": "y = n0 - x0;",
    "multiply": "y = x0 * n0;",
    "divide": "y = x0 / n0;",
    "divide_by": "y = n0 / x0;",
    "power": "y = pow(x0, n0);",
    "power_of": "y = pow(n0, x0);",
}


def arithmetic(operation: str, a: Array, b: Array) -> Array:
    """See `AbstractBackend.arithmetic`; floats in one launch."""
    if is_float(a.dtype):
        return elementwise(operation, _PAIRS[operation], (a, b))
    return PAIRS[operation](cupy(), a, b)


def arithmetic_constant(operation: str, x: Array, value: float | np.number) -> Array:
    """See `AbstractBackend.arithmetic_constant`; floats in one launch."""
    if is_float(x.dtype):
        return elementwise(f"{operation}_constant", _CONSTANTS[operation], (x,), numbers=(float(value),))
    return CONSTANTS[operation](x, value)
