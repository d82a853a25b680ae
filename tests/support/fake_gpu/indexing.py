"""What stands in square brackets, by CuPy's rules: integers of arrays wrap around, masks are counted by the host."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class Index(NamedTuple):
    """An index that was taken apart.

    basic: the index if no array is in it, else None
    kinds: its parts
    arrays: the arrays in it, of the device
    places: for each array its place in the index, and the axes it stands for
    counts: whether a mask is in it
    """

    basic: tuple | None
    kinds: tuple
    arrays: list
    places: list
    counts: bool
    shape: tuple

    def key(self, hosts: Sequence[np.ndarray]) -> tuple:
        """The index for NumPy, with these values of the arrays."""
        parts = list(self.kinds)
        for (place, axis), values in zip(self.places, hosts):
            values = np.asarray(values)
            if values.dtype == bool:
                parts[place] = values
            else:
                parts[place] = np.mod(values.astype(np.int64), max(self.shape[axis], 1))
        return tuple(parts)


def resolve(key: Any, shape: tuple[int, ...]) -> Index:
    """The index `key` of an array of `shape`."""
    from fake_gpu.array import CudaArray, from_host

    parts = list(key) if isinstance(key, tuple) else [key]
    arrays, places, counts = [], [], False
    used = 0
    for part in parts:
        if part is None or part is Ellipsis:
            continue
        is_mask = isinstance(part, CudaArray | np.ndarray) and part.dtype == np.bool_
        used += part.ndim if is_mask else 1
    axis = 0
    for place, part in enumerate(parts):
        if part is None:
            continue
        if part is Ellipsis:
            axis += len(shape) - used
            continue
        if isinstance(part, slice):
            if any(isinstance(each, CudaArray) for each in (part.start, part.stop, part.step)):
                parts[place] = slice(*(None if e is None else int(e) for e in (part.start, part.stop, part.step)))
            axis += 1
            continue
        if isinstance(part, bool | np.bool_):
            raise IndexError("the fake takes no single truth values as indices")
        if isinstance(part, int | np.integer):
            axis += 1
            continue
        if not isinstance(part, CudaArray):
            values = np.asarray(part)
            if isinstance(part, list | tuple) and not values.size:
                values = values.astype(np.int32)
            if values.dtype.kind not in "biu":
                raise IndexError(f"arrays used as indices must be of integer or boolean type (actual: {values.dtype})")
            part = from_host(values)
        if part.dtype.kind not in "biu":
            raise IndexError(f"arrays used as indices must be of integer or boolean type. (actual: {part.dtype})")
        if part.dtype == bool:
            counts = True
            for k, n in enumerate(part.shape):
                if n not in (0, shape[axis + k]):
                    raise IndexError("boolean index did not match indexed array")
        arrays.append(part)
        places.append((place, axis))
        axis += part.ndim if part.dtype == bool else 1
    if axis > len(shape):
        raise IndexError(f"too many indices for array: array is {len(shape)}-dimensional, but {axis} were indexed")
    kinds = tuple(parts)
    basic = kinds if Ellipsis in (p for p in parts if p is Ellipsis) else (*kinds, ...)
    return Index(None if arrays else basic, kinds, arrays, places, counts, shape)
