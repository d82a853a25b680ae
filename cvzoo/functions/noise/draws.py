"""Random arrays for noise, drawn where x lies: on a GPU the processor is not asked, and the numbers are others."""

from collections.abc import Sequence
from typing import Any

from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.cuda import random_numbers
from cvzoo.config.randomness import random_generator


def drawn_mask(x: Any, shape: Sequence[int], ratio: float, scale: float) -> Any:
    """An array of x's device and dtype: 0 with probability `ratio`, otherwise `scale`."""
    if is_device_array(x):
        return random_numbers.kept(tuple(shape), ratio, scale, x.dtype)
    kept = random_generator().random(shape, "float32") >= ratio
    return (kept * x.dtype.type(scale)).astype(x.dtype, copy=False)


def drawn_normal(x: Any) -> Any:
    """An array of x's device, shape and dtype, of the normal distribution."""
    if is_device_array(x):
        return random_numbers.standard_normal(x.shape, x.dtype)
    return random_generator().standard_normal(x.shape).astype(x.dtype)
