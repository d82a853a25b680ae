"""Whether arrays are finite, with one synchronization of the GPU."""

from collections.abc import Sequence

from cvzoo.backends.arrays import to_numpy
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.float_types import is_float
from cvzoo.typing.aliases import Array

__all__ = ["are_finite"]


def are_finite(arrays: Sequence[Array]) -> list[bool]:
    """See `AbstractBackend.are_finite`."""
    xp = cupy()
    checked = [k for k, x in enumerate(arrays) if is_float(x.dtype) and x.size]
    flags = [xp.all(xp.isfinite(arrays[k])) for k in checked]
    results = dict(zip(checked, to_numpy(xp.stack(flags)).tolist())) if flags else {}
    return [results.get(k, True) for k in range(len(arrays))]
