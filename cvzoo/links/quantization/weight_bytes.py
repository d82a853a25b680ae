"""Filters and rows of matrices as bytes."""

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError

_LAST_BITS = np.uint32(0x7F)


def weight_bytes(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """W (O, ...) float32 as int8 of its shape, and what a byte of each filter counts (O,) float32; 0 stays 0.

    The largest value of a filter is 127 of its steps. Steps have 17 bits, so that `float_weights` is exact and gives
    the same bytes and steps again.
    Raises ValueRangeError if W is not finite.
    """
    steps = (np.abs(W).reshape(len(W), -1).max(axis=1, initial=0) / np.float32(127)).astype(np.float32)
    if not np.isfinite(steps).all():
        raise ValueRangeError("weights that are not finite cannot be quantized")
    bits = np.ascontiguousarray(steps).view(np.uint32)
    steps = ((bits + _LAST_BITS) & ~_LAST_BITS).view(np.float32)
    steps = np.where(steps > 0, steps, np.float32(1))
    return np.rint(W / _beside(steps, W.ndim)).astype(np.int8), steps


def float_weights(filters: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """What the bytes mean, float32."""
    return filters.astype(np.float32) * _beside(steps, filters.ndim)


def _beside(steps: np.ndarray, ndim: int) -> np.ndarray:
    return steps.reshape(-1, *[1] * (ndim - 1))
