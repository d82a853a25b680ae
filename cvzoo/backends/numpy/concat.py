"""Arrays laid one after another."""

from collections.abc import Sequence

import numpy as np

from cvzoo.backends.numpy.memory import empty


def concat(arrays: Sequence[np.ndarray], *, axis: int) -> np.ndarray:
    """As AbstractBackend.concat says."""
    if arrays[0].ndim != 4:
        return np.concatenate(arrays, axis=axis)
    shape = list(arrays[0].shape)
    shape[axis] = sum(a.shape[axis] for a in arrays)
    return np.concatenate(arrays, axis=axis, out=empty(shape, np.result_type(*arrays)))
