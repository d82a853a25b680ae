"""Concatenation."""

from collections.abc import Sequence

import numpy as np

from cvzoo.backends.float_types import in_float32
from cvzoo.backends.numpy.memory import empty

__all__ = ["concat"]


@in_float32
def concat(arrays: Sequence[np.ndarray], *, axis: int) -> np.ndarray:
    """See `AbstractBackend.concat`."""
    if arrays[0].ndim != 4:
        return np.concatenate(arrays, axis=axis)
    shape = list(arrays[0].shape)
    shape[axis] = sum(a.shape[axis] for a in arrays)
    return np.concatenate(arrays, axis=axis, out=empty(shape, np.result_type(*arrays)))
