"""Check for NaN and infinity."""

from collections.abc import Sequence

import numpy as np

from cvzoo.backends.float_types import widened

__all__ = ["are_finite"]


def are_finite(arrays: Sequence[np.ndarray]) -> list[bool]:
    """See `AbstractBackend.are_finite`."""
    return [_is_finite(widened(np.asarray(array))) for array in arrays]


def _is_finite(array: np.ndarray) -> bool:
    if array.dtype.kind not in "fc" or not array.size:
        return True
    flat = array.ravel(order="K")  # a view of whatever is contiguous, channels last, too
    with np.errstate(all="ignore"):
        # one pass at memory's speed, by BLAS where it can; a sum may also overflow, so a bad one proves nothing
        total = np.dot(flat, flat) if flat.dtype.char in "fd" else np.add.reduce(flat)
        return bool(np.isfinite(total)) or bool(np.isfinite(flat).all())
