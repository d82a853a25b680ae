"""A chain of element-wise steps."""

from collections.abc import Sequence

import numpy as np

from cvzoo.backends.float_types import in_float32
from cvzoo.backends.numpy.eltwise import eltwise

__all__ = ["chain"]

_BINARY = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}


@in_float32
def chain(x: np.ndarray, steps: Sequence[tuple], others: Sequence[np.ndarray]) -> np.ndarray:
    """See `AbstractBackend.chain`."""
    rest = iter(others)
    for kind, *numbers in steps:
        if kind not in _BINARY:
            x = eltwise(kind, x, alpha=numbers[0], beta=numbers[1])
            continue
        with np.errstate(all="ignore"):
            x = np.asarray(_BINARY[kind](x, next(rest)))
    return x
