"""Random arrays from the generator of `cvzoo.set_seed`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.config.randomness import random_generator

__all__ = ["random_mask", "standard_normal"]


def random_mask(shape: Sequence[int], ratio: float, scale: float, dtype: Any = "float32") -> np.ndarray:
    """See `AbstractBackend.random_mask`."""
    dtype = np.dtype(dtype)
    keep = random_generator().random(shape, "float32") >= ratio
    return (keep * dtype.type(scale)).astype(dtype, copy=False)


def standard_normal(shape: int | Sequence[int], dtype: Any = "float32", *, rounded: bool = False) -> np.ndarray:
    """See `AbstractBackend.standard_normal`."""
    if rounded:
        return random_generator().standard_normal(shape).astype(dtype)
    return random_generator().standard_normal(shape, dtype)
