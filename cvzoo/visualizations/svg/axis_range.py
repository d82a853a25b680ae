"""What an axis shows."""

import math

import numpy as np

_STEPS = (1, 2, 2.5, 5, 10)


def axis_range(values):
    """(low, high) around the finite values, so that its ends and its middle are round numbers.

    values: any array; without a finite value (0, 1)
    """
    values = np.asarray(values, np.float64).ravel()
    values = values[np.isfinite(values)]
    if not values.size:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        margin = abs(high) / 2 or 0.5
        low, high = low - margin, high + margin
    # half the range is a round step; an end may have to move, and then the next larger step is tried
    exponent = math.floor(math.log10((high - low) / 2))
    for scale in (10.0**exponent, 10.0 ** (exponent + 1)):
        for step in _STEPS:
            start = math.floor(low / (step * scale) + 1e-9) * step * scale
            if start + 2 * step * scale >= high - 1e-9 * (high - low):
                return start, start + 2 * step * scale
    return low, high
