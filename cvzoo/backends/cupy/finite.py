"""Whether arrays are finite, with one synchronization of the GPU."""

from collections.abc import Sequence
from typing import Any

from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.float_types import is_float

__all__ = ["are_finite"]


def are_finite(arrays: Sequence[Any]) -> list[bool]:
    """See `AbstractBackend.are_finite`."""
    xp = cupy()
    flags = {k: xp.isfinite(x).all() for k, x in enumerate(arrays) if is_float(x.dtype) and x.size}
    results = dict(zip(flags, xp.stack(list(flags.values())).get().tolist())) if flags else {}
    return [results.get(k, True) for k in range(len(arrays))]
