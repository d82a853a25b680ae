"""Whether an array holds numbers only, fast."""

from typing import Any

import numpy as np


def all_finite(array: Any) -> bool:
    """True if no value is NaN or infinite; arrays of whole numbers are always fine."""
    array = np.asarray(array)
    if array.dtype.kind not in "fc" or not array.size:
        return True
    flat = array.ravel(order="K")  # a view of whatever is contiguous, channels last, too
    with np.errstate(all="ignore"):
        # one pass at memory's speed, by BLAS where it can; a sum may also overflow, so a bad one proves nothing
        total = np.dot(flat, flat) if flat.dtype.char in "fd" else np.add.reduce(flat)
        return bool(np.isfinite(total)) or bool(np.isfinite(flat).all())


def kind_of(array: Any) -> str:
    """Such as "3 of 12 values are NaN, 1 is infinite"; empty if all are finite."""
    array = np.asarray(array)
    if array.dtype.kind not in "fc":
        return ""
    n_nan, n_infinite = int(np.isnan(array).sum()), int(np.isinf(array).sum())
    parts = [f"{n} {word}" for n, word in ((n_nan, "NaN"), (n_infinite, "infinite")) if n]
    return f"{' and '.join(parts)} of {array.size} values" if parts else ""


def about(array: Any) -> str:
    """Such as "float32 (2, 3) from -1 to 5", of the finite values."""
    array = np.asarray(array)
    text = f"{array.dtype} {array.shape}"
    if array.dtype.kind not in "fiu" or not array.size:
        return text
    finite = array[np.isfinite(array)]
    return f"{text} from {finite.min():.4g} to {finite.max():.4g}" if finite.size else f"{text}, none finite"
