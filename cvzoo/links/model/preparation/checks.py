"""Checks of the fields of preparations."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError


def checked_side(name: str, value: Any) -> int:
    """value. Raises ValueRangeError, which names it, unless it is a positive integer."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueRangeError(f"{name} must be a positive integer", got=repr(value))
    return value


def checked_size(name: str, value: Sequence[int]) -> tuple[int, int]:
    """(H, W) as a tuple. Raises ValueRangeError, which names it, unless it is two positive integers."""
    if not isinstance(value, Sequence) or len(value) != 2:
        raise ValueRangeError(f"{name} must be two positive integers (H, W)", got=repr(value)[:80])
    height, width = (checked_side(name, side) for side in value)
    return height, width


def checked_numbers(name: str, value: Any, *, positive: bool = False) -> tuple[float, float, float]:
    """Three floats, of one number or of three. Raises ValueRangeError, which names it, for anything else."""
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        array = np.full(1, np.nan)
    if array.shape not in ((), (3,)) or not np.isfinite(array).all() or (positive and not (array > 0).all()):
        raise ValueRangeError(f"{name} must be three numbers", got=repr(value)[:80])
    red, green, blue = np.broadcast_to(array, 3).tolist()
    return red, green, blue
