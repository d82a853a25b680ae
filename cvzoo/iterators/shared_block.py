"""Memory shared by this process and its workers, without a name in any file system."""

import mmap
import os
import sys
import tempfile
from multiprocessing import reduction
from typing import Any


class SharedBlock:
    """`size` bytes of shared memory, initially zero, for processes that get it as an argument when they are started.

    view: a writable memoryview
    Pages are allocated when they are first written to. The memory is freed with the last process that has it mapped,
    however that ends.
    """

    def __init__(self, size: int) -> None:
        self._descriptor = _anonymous_file()
        self._size = max(size, 1)
        os.ftruncate(self._descriptor, self._size)
        self._map()

    def _map(self) -> None:
        self._memory = mmap.mmap(self._descriptor, self._size)
        self.view = memoryview(self._memory)

    def close(self) -> None:
        """Releases the memory; may be called repeatedly. Parts of the view that are still referenced stay valid."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor < 0:
            return
        os.close(descriptor)
        try:
            self.view.release()
            self._memory.close()
        except BufferError:
            pass  # parts are still referenced, by a traceback perhaps; the memory is freed with the last of them

    def __getstate__(self) -> tuple[Any, int]:
        # works only while a process is being started, the only time when a file descriptor can be passed on
        return reduction.DupFd(self._descriptor), self._size

    def __setstate__(self, state: tuple[Any, int]) -> None:
        descriptor, self._size = state
        self._descriptor = descriptor.detach()
        self._map()


def _anonymous_file() -> int:
    if sys.platform == "linux":
        # not /dev/shm, which is often limited to 64 MiB, beyond which a write kills the process
        return os.memfd_create("cvzoo-iterator", os.MFD_CLOEXEC)
    descriptor, name = tempfile.mkstemp(prefix="cvzoo-iterator-")
    os.unlink(name)
    return descriptor
