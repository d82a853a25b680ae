"""Exact decimal arithmetic for the numbers in annotation files: 0.1 + 0.2 is 0.3.

The shortest decimal representation of a float is the number in the file; computing with it instead of the binary
fraction converts a box from corners to sizes and back without changing a digit.
"""

import decimal
import math
from collections.abc import Iterable

Decimal = decimal.Decimal
_FEW = 1e8
_CONTEXT = decimal.Context(prec=40)
_SMALLEST = Decimal("0.000001")  # pixels: values closer than a thousandth of this to a multiple of it are rounded to it


def exact(value: float) -> Decimal:
    """The number of the value's shortest decimal representation."""
    return Decimal(repr(float(value))) if isinstance(value, float) else Decimal(value)


def minus(a: float, b: float) -> float:
    return plus(a, -b)


def plus(a: float, b: float) -> float:
    if abs(a) < _FEW and abs(b) < _FEW:  # of at most six decimals and 15 digits, integers give the same, faster
        first, second = round(a * 1e6), round(b * 1e6)
        if first / 1e6 == a and second / 1e6 == b and first + second:  # zeros have a sign
            return (first + second) / 1e6
    return _plain(_CONTEXT.add(exact(a), exact(b))) if finite((a, b)) else float(a) + float(b)


def from_center(center: float, length: float, whole: int) -> tuple[float, float]:
    """(start, end) in pixels from the center and length in fractions of `whole` pixels."""
    if not finite((center, length)):
        return math.nan, math.nan
    middle, half = exact(center) * whole, exact(length) * whole / 2
    return _snapped(middle - half), _snapped(middle + half)


def to_center(start: float, end: float, whole: int) -> tuple[str, str]:
    """(center, length) in fractions of `whole` pixels, as text with at most 17 decimals."""
    first, last = exact(start), exact(end)
    return fraction_text((first + last) / (2 * whole)), fraction_text((last - first) / whole)


def times(value: float, whole: int) -> float:
    """A fraction of `whole` pixels, in pixels."""
    return _snapped(exact(value) * whole) if math.isfinite(value) else float(value)


def fraction_text(value: Decimal) -> str:
    rounded = value.quantize(Decimal("1e-17"), context=_CONTEXT)
    text = f"{rounded:f}"
    return (text.rstrip("0").rstrip(".") or "0") if "." in text else text


def number_text(value: float) -> str:
    """The value as text for files: 12 or 12.5, never 12.0 or 1e-05."""
    if not math.isfinite(value):
        return str(value)
    text = f"{exact(value):f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


def finite(values: Iterable[float]) -> bool:
    try:
        return all(map(math.isfinite, values))
    except OverflowError:  # an integer beyond the range of float
        return False


def _plain(value: Decimal) -> float:
    return float(value)


def _snapped(value: Decimal) -> float:
    # recovers the pixels that fractions of many digits were computed from; fractions of few digits are exact, and
    # farther from a multiple than the limit
    near = value.quantize(_SMALLEST, context=_CONTEXT)
    return float(near if abs(value - near) < _SMALLEST / 1000 else value)
