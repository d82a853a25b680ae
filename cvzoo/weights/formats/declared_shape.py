"""Whether an array can have the shape that a file declares."""

import math
from collections.abc import Sequence

MAX_RANK = 32


def is_possible_shape(shape: Sequence[int], itemsize: int) -> bool:
    """Whether NumPy can make an array of these sizes, of `itemsize` bytes an item.

    An empty array needs no memory, and still none can be made whose other sizes are together larger than what can be
    addressed.
    """
    return len(shape) <= MAX_RANK and math.prod(size for size in shape if size) * max(itemsize, 1) < 1 << 62
