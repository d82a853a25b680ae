"""Two arrays of floats, or one and a number, combined in one launch on a GPU."""

from typing import Any

from cvzoo.backends.cuda.elementwise import elementwise

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


def combined(operation: str, a: Any, b: Any) -> Any:
    """a - b, a / b, the larger, the smaller (NaN if either is) or a ** b, with NumPy's broadcasting.

    operation: "subtract", "divide", "maximum", "minimum" or "power"
    """
    return elementwise(operation, _PAIRS[operation], (a, b))


def combined_with(operation: str, x: Any, value: float) -> Any:
    """x + value, x - value, value - x, x * value, x / value, value / x, x ** value or value ** x, in x's dtype.

    operation: "add", "subtract", "subtract_from", "multiply", "divide", "divide_by", "power" or "power_of"
    """
    return elementwise(f"{operation}_constant", _CONSTANTS[operation], (x,), numbers=(value,))
