"""Whether an array holds numbers only, fast."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.backends.arrays import array_module, device_number, is_device_array, to_numpy
from cvzoo.backends.device import on_device_of
from cvzoo.backends.float_types import is_float, widened


def all_finite(array: Any) -> bool:
    """True if no value is NaN or infinite; arrays of whole numbers are always fine."""
    if is_device_array(array):
        return not not_finite([array])
    array = widened(np.asarray(array))
    if array.dtype.kind not in "fc" or not array.size:
        return True
    flat = array.ravel(order="K")  # a view of whatever is contiguous, channels last, too
    with np.errstate(all="ignore"):
        # one pass at memory's speed, by BLAS where it can; a sum may also overflow, so a bad one proves nothing
        total = np.dot(flat, flat) if flat.dtype.char in "fd" else np.add.reduce(flat)
        return bool(np.isfinite(total)) or bool(np.isfinite(flat).all())


def not_finite(arrays: Sequence[Any]) -> list[int]:
    """The places of the arrays that hold something that is no number; each GPU is asked once."""
    found = []
    flags: dict[int, list[tuple[int, Any]]] = {}
    for place, array in enumerate(arrays):
        if not is_device_array(array):
            if not all_finite(array):
                found.append(place)
        elif is_float(array.dtype) and array.size:
            with on_device_of(array):
                flag = array_module(array).isfinite(array).all()
            flags.setdefault(device_number(array), []).append((place, flag))
    for each in flags.values():
        with on_device_of(each[0][1]):
            fine = array_module(each[0][1]).stack([flag for _, flag in each]).get()
        found += [place for (place, _), good in zip(each, fine) if not good]
    return sorted(found)


def kind_of(array: Any) -> str:
    """Such as "3 of 12 values are NaN, 1 is infinite"; empty if all are finite."""
    array = widened(to_numpy(array))
    if array.dtype.kind not in "fc":
        return ""
    n_nan, n_infinite = int(np.isnan(array).sum()), int(np.isinf(array).sum())
    parts = [f"{n} {word}" for n, word in ((n_nan, "NaN"), (n_infinite, "infinite")) if n]
    return f"{' and '.join(parts)} of {array.size} values" if parts else ""


def about(array: Any) -> str:
    """Such as "float32 (2, 3) from -1 to 5", of the finite values."""
    array = widened(to_numpy(array))
    text = f"{array.dtype} {array.shape}"
    if array.dtype.kind not in "fiu" or not array.size:
        return text
    finite = array[np.isfinite(array)]
    return f"{text} from {finite.min():.4g} to {finite.max():.4g}" if finite.size else f"{text}, none finite"
