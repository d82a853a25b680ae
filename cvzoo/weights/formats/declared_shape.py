"""Validation of shapes declared in files."""

import math
from collections.abc import Sequence

MAX_RANK = 32


def is_possible_shape(shape: Sequence[int], itemsize: int) -> bool:
    """Whether NumPy can create an array of these sizes, with `itemsize` bytes per item.

    Even an empty array cannot be created if the product of its other sizes exceeds the address space.
    """
    return len(shape) <= MAX_RANK and math.prod(size for size in shape if size) * max(itemsize, 1) < 1 << 62
