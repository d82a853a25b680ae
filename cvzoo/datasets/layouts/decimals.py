"""Sums of the numbers that files hold, as a person with a pencil would get them: 0.1 + 0.2 is 0.3.

A float's shortest decimal form is what the file said; reckoning with that, and not with the binary fraction beneath,
lets a box go from corners to sizes and back without a changed digit.
"""

import decimal
import math
from collections.abc import Iterable

Decimal = decimal.Decimal
_CONTEXT = decimal.Context(prec=40)
_SMALLEST = Decimal("0.000001")  # of a pixel: what is closer than a thousandth of this to a multiple of it, is it


def exact(value: float) -> Decimal:
    """The number as its shortest decimal form says."""
    return Decimal(repr(float(value))) if isinstance(value, float) else Decimal(value)


def minus(a: float, b: float) -> float:
    return _plain(_CONTEXT.subtract(exact(a), exact(b))) if finite((a, b)) else float(a) - float(b)


def plus(a: float, b: float) -> float:
    return _plain(_CONTEXT.add(exact(a), exact(b))) if finite((a, b)) else float(a) + float(b)


def from_center(center: float, length: float, whole: int) -> tuple[float, float]:
    """(start, end) in pixels of what lies around a centre, both in fractions of `whole` pixels."""
    if not finite((center, length)):
        return math.nan, math.nan
    middle, half = exact(center) * whole, exact(length) * whole / 2
    return _snapped(middle - half), _snapped(middle + half)


def to_center(start: float, end: float, whole: int) -> tuple[str, str]:
    """(center, length) in fractions of `whole` pixels, as text of at most 17 decimals."""
    first, last = exact(start), exact(end)
    return fraction_text((first + last) / (2 * whole)), fraction_text((last - first) / whole)


def times(value: float, whole: int) -> float:
    """A fraction of `whole` pixels in pixels."""
    return _snapped(exact(value) * whole) if math.isfinite(value) else float(value)


def fraction_text(value: Decimal) -> str:
    rounded = value.quantize(Decimal("1e-17"), context=_CONTEXT)
    text = f"{rounded:f}"
    return (text.rstrip("0").rstrip(".") or "0") if "." in text else text


def number_text(value: float) -> str:
    """As in files: 12 or 12.5, never 12.0 nor 1e-05."""
    if not math.isfinite(value):
        return str(value)
    text = f"{exact(value):f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


def finite(values: Iterable[float]) -> bool:
    try:
        return all(map(math.isfinite, values))
    except OverflowError:  # a whole number beyond all floats
        return False


def _plain(value: Decimal) -> float:
    return float(value)


def _snapped(value: Decimal) -> float:
    # a box that was in pixels before it became fractions of many digits comes back as it was; fractions of few digits
    # are exact anyway and far from the limit
    near = value.quantize(_SMALLEST, context=_CONTEXT)
    return float(near if abs(value - near) < _SMALLEST / 1000 else value)
