"""Fast checks for NaN and infinity."""

from collections.abc import Sequence

import numpy as np

from cvzoo.backends.arrays import to_numpy
from cvzoo.backends.device import Device, device_of
from cvzoo.backends.float_types import widened
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Array


def all_finite(array: Array) -> bool:
    """True if no value is NaN or infinite; integer arrays always are finite."""
    return not not_finite([array])


def not_finite(arrays: Sequence[Array]) -> list[int]:
    """The indices of the arrays with NaN or infinite values; one device synchronization per GPU."""
    by_device: dict[Device, list[int]] = {}
    for place, array in enumerate(arrays):
        by_device.setdefault(device_of(array), []).append(place)
    bad = []
    for device, places in by_device.items():
        with device:
            fine = device.backend.are_finite([arrays[place] for place in places])
        bad += [place for place, good in zip(places, fine) if not good]
    return sorted(bad)


def kind_of(array: Array) -> str:
    """Such as "3 of 12 values are NaN, 1 is infinite"; empty if all are finite."""
    array = widened(to_numpy(array))
    if array.dtype.kind not in "fc":
        return ""
    n_nan, n_infinite = int(np.isnan(array).sum()), int(np.isinf(array).sum())
    parts = [f"{n} {word}" for n, word in ((n_nan, "NaN"), (n_infinite, "infinite")) if n]
    return f"{' and '.join(parts)} of {counted(array.size, 'value')}" if parts else ""


def about(array: Array) -> str:
    """Such as "float32 (2, 3) from -1 to 5", of the finite values."""
    array = widened(to_numpy(array))
    text = f"{array.dtype} {array.shape}"
    if array.dtype.kind not in "fiu" or not array.size:
        return text
    finite = array[np.isfinite(array)]
    return f"{text} from {finite.min():.4g} to {finite.max():.4g}" if finite.size else f"{text}, none finite"
