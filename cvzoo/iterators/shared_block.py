"""Memory that this process and its workers see alike, without a name in any file system."""

import mmap
import os
import sys
import tempfile
from multiprocessing import reduction


class SharedBlock:
    """`size` bytes of zeros, shared with processes it is sent to when they are started.

    view: a writable memoryview
    Pages take memory when they are first written to. It is gone with the last process that holds it, however that ends.
    """

    def __init__(self, size):
        self._descriptor = _anonymous_file()
        self._size = max(size, 1)
        os.ftruncate(self._descriptor, self._size)
        self._map()

    def _map(self):
        self._memory = mmap.mmap(self._descriptor, self._size)
        self.view = memoryview(self._memory)

    def close(self):
        """Let go of it; more than once does no harm. Whoever still has a part of the view keeps it to the end."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor < 0:
            return
        os.close(descriptor)
        try:
            self.view.release()
            self._memory.close()
        except BufferError:
            pass  # a traceback may hold a part; the memory goes back to the system with the last of them

    def __getstate__(self):
        # only while a process is being started can a descriptor be handed over
        return reduction.DupFd(self._descriptor), self._size

    def __setstate__(self, state):
        descriptor, self._size = state
        self._descriptor = descriptor.detach()
        self._map()


def _anonymous_file():
    if sys.platform == "linux":
        # counts as the program's memory; /dev/shm is often limited to 64 MiB, and writing beyond kills the process
        return os.memfd_create("cvzoo-iterator", os.MFD_CLOEXEC)
    descriptor, name = tempfile.mkstemp(prefix="cvzoo-iterator-")
    os.unlink(name)
    return descriptor
