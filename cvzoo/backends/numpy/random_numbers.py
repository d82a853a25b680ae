"""Random arrays from the generator of `cvzoo.set_seed`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cvzoo.config.randomness import random_generator

__all__ = ["random_mask", "standard_normal"]


def random_mask(shape: Sequence[int], ratio: float, scale: float, dtype: npt.DTypeLike = "float32") -> np.ndarray:
    """See `AbstractBackend.random_mask`."""
    kind: np.dtype[Any] = np.dtype(dtype)
    keep = random_generator().random(shape, "float32") >= ratio
    return (keep * kind.type(scale)).astype(kind, copy=False)


def standard_normal(
    shape: int | Sequence[int], dtype: npt.DTypeLike = "float32", *, rounded: bool = False
) -> np.ndarray:
    """See `AbstractBackend.standard_normal`."""
    if rounded:
        return random_generator().standard_normal(shape).astype(dtype)
    kind: np.dtype | Any = dtype  # NumPy's stubs ask for one of the two that it draws
    return random_generator().standard_normal(shape, kind)
