"""Random arrays where another array lies: from NumPy's generator on the CPU, from a GPU's own on a GPU."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.cuda import random_numbers
from cvzoo.config.randomness import random_generator


def draw_uniform(shape: Sequence[int], *, like: Any) -> Any:
    """float32 of that shape, uniform in [0, 1), where `like` lies. Nothing waits for a GPU."""
    if is_device_array(like):
        with like.device:
            return random_numbers.uniform(shape)
    return random_generator().random(shape, "float32")


def draw_standard_normal(shape: Sequence[int], dtype: Any, *, like: Any) -> Any:
    """Normal numbers of that shape and floating dtype, where `like` lies."""
    if is_device_array(like):
        with like.device:
            return random_numbers.standard_normal(shape, dtype)
    if np.dtype(dtype).name in ("float32", "float64"):
        return random_generator().standard_normal(shape, dtype)
    return random_generator().standard_normal(shape, "float32").astype(dtype)


def draw_kept(shape: Sequence[int], ratio: float, *, like: Any) -> Any:
    """0 with probability `ratio`, otherwise 1 / (1 - ratio) (0 if ratio is 1), of `like`'s dtype and where it lies."""
    scale = 1 / (1 - ratio) if ratio < 1 else 0.0
    if is_device_array(like):
        with like.device:
            return random_numbers.kept(shape, ratio, scale, like.dtype)
    return (random_generator().random(shape, "float32") >= ratio) * like.dtype.type(scale)
