"""Alignment requirements of kernels, and their check.

Results must be aligned to 64 bytes, since some kernels use non-temporal stores for results larger than the cache.
Inputs may have any alignment, except on CPUs without AVX, where it is 16 bytes.

CVZOO_CHECK_ALIGNMENT=1: the alignment of results of any size is checked before each kernel runs
"""

import os
from collections.abc import Set

import numpy as np

from cvzoo.backends.arrays import numpy_address
from cvzoo.backends.onednn.pool import ALIGNMENT, laid_out
from cvzoo.errors.exceptions import BackendError

CHECKS_ALIGNMENT = os.environ.get("CVZOO_CHECK_ALIGNMENT", "0") not in ("", "0")
_READ_ALIGNMENT = 16


def is_readable(address: int) -> bool:
    """Whether SSE4.1 instructions can read from the address."""
    return address % _READ_ALIGNMENT == 0


def readable(array: np.ndarray) -> np.ndarray:
    """The array itself, or a copy that instructions of SSE4.1 can read."""
    return array if is_readable(numpy_address(array)) else laid_out(array, array.strides)


class Alignment:
    """The alignment requirements of one primitive.

    written: indexes of the arrays that it writes
    reads_aligned: whether the others are read by SSE4.1 instructions
    """

    __slots__ = ("_reads_aligned", "_written")

    def __init__(self, written: Set[int], reads_aligned: bool):
        self._written = written
        self._reads_aligned = reads_aligned

    def check(self, k: int, address: int) -> None:
        """Raises BackendError if the primitive writes array number k and it does not begin at a multiple of 64, or
        reads it where it cannot."""
        alignment = ALIGNMENT if k in self._written else _READ_ALIGNMENT if self._reads_aligned else 1
        if address % alignment:
            raise BackendError(
                f"oneDNN would {'write' if k in self._written else 'read'} argument {k} of a primitive at an address "
                "that is not aligned",
                expected=f"a multiple of {alignment} bytes",
                got=f"{address % alignment} bytes behind one",
                hint="memory from cvzoo.backends.onednn.pool",
            )

    def fitted(self, arrays: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """The arrays, copied where a read requires alignment. Raises BackendError as `check` does."""
        if self._reads_aligned:
            arrays = tuple([x if k in self._written else readable(x) for k, x in enumerate(arrays)])
        for k, x in enumerate(arrays):
            self.check(k, numpy_address(x))
        return arrays
