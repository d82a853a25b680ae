"""Numbers below the smallest normal one, which kernels take for 0: CuPy compiles all with -ftz=true.

On the host that holds for doubles, too, which a GPU leaves as they are.
"""

import contextlib
import ctypes
import functools
import platform
import struct
from collections.abc import Iterator

_SIZE, _MXCSR = 32, 28  # of glibc's fenv_t for x86-64, and where the control word of its vector unit lies
_FLUSH = 0x8040  # results to zero, and operands


@functools.cache
def _environments() -> tuple[ctypes.CDLL, ctypes.Array, ctypes.Array] | None:
    """The library, and the environments of floats with subnormal numbers and without; None where it is another's."""
    if platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc":
        return None
    library = ctypes.PyDLL("libm.so.6")
    plain = ctypes.create_string_buffer(_SIZE)
    if library.fegetenv(plain):
        return None
    flushing = ctypes.create_string_buffer(plain.raw, _SIZE)
    (word,) = struct.unpack_from("<I", plain, _MXCSR)
    struct.pack_into("<I", flushing, _MXCSR, word | _FLUSH)
    return library, plain, flushing


@contextlib.contextmanager
def flushed_subnormals() -> Iterator[None]:
    """A block in which this thread has no subnormal numbers."""
    found = _environments()
    if found is None:
        yield
        return
    library, plain, flushing = found
    library.fesetenv(flushing)
    try:
        yield
    finally:
        library.fesetenv(plain)
