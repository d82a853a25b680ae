"""Whether what a kept product was made of is still the same."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.parameter import Parameter
from cvzoo.backends.arrays import is_device_array


def snapshot(values: Sequence[Any]) -> Any:
    """Something to ask `is_unchanged` with later.

    values: parameters or arrays of one dimension, all on one device

    On the CPU it is a copy. A GPU's values are never read for this, it would stop the host at every layer: a parameter
    is watched by its table of copies, which whoever changes it throws away, an array by being the same object. Running
    statistics that are written in place, by another than their layer, are so noticed only with the layer's parameters.
    """
    arrays = [_array(value) for value in values]
    if is_device_array(arrays[0]):
        return tuple([_identity(value) for value in values])
    return np.concatenate(arrays)


def is_unchanged(kept: Any, now: Any) -> bool:
    """Whether two snapshots are of the same values."""
    if isinstance(now, tuple):
        return isinstance(kept, tuple) and len(kept) == len(now) and all(a is b for a, b in zip(kept, now))
    return not isinstance(kept, tuple) and np.array_equal(kept, now)


def _array(value: Any) -> Any:
    return value._array if isinstance(value, Parameter) else value


def _identity(value: Any) -> Any:
    if not isinstance(value, Parameter):
        return value
    table = value.packs()
    return object() if table is None else table  # while gradients are taken nothing is the same for long
