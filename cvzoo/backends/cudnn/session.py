"""A thread's cuDNN handle on a device, with its stream and workspace."""

import ctypes
import sys
import threading
from typing import Any

from cvzoo.backends.cuda.held import hold
from cvzoo.backends.cudnn.library import check, library
from cvzoo.backends.cudnn.planner import Place
from cvzoo.backends.cupy.library import cupy

_SMALLEST_ARENA = 1 << 20


class Session:
    """What a thread calls cuDNN with on one device. A handle must not be used by two threads at once."""

    def __init__(self) -> None:
        self._calls = library().calls
        made = ctypes.c_void_p()
        self.handle: int | None = None
        check(self._calls.cudnnCreate(ctypes.addressof(made)))
        self.handle = made.value
        self.stream: int | None = None
        self._arenas: dict[int, list[Any]] = {}
        self._zeros: dict[str, Any] = {}

    def __del__(self) -> None:
        if self.handle is not None and not sys.is_finalizing():
            self._calls.cudnnDestroy(self.handle)

    @property
    def place(self) -> Place:
        """What plans are made for."""
        return Place(self.handle)

    def follow(self, stream: int) -> None:
        """Run what comes on this stream (its address)."""
        if stream != self.stream:
            check(self._calls.cudnnSetStream(self.handle, stream))
            self.stream = stream

    def workspace(self, size: int) -> int:
        """The address of at least `size` bytes for a kernel of the followed stream to work in; 0 for none.

        Kernels of one stream run one after another, so that they share it. Outgrown ones are not freed, since a CUDA
        graph may have been captured with it: at most as much again.
        """
        if not size:
            return 0
        arenas = self._arenas.setdefault(self.stream or 0, [])
        if not arenas or arenas[-1].mem.size < size:
            new_size = max(size, 2 * arenas[-1].mem.size if arenas else _SMALLEST_ARENA)
            # not by the current allocator, which may be that of a graph's private memory
            arenas.append(cupy().get_default_memory_pool().malloc(new_size))
        return arenas[-1].ptr

    def zeros(self, count: int, dtype: Any) -> Any:
        """(count,) zeros, read-only: the bias of a convolution without bias."""
        cached = self._zeros.get(dtype.char)
        if cached is None or cached.size < count:
            cached = cupy().zeros(max(count, 4096), dtype)
            # in a capture they are zeros only once the graph has run
            if not cupy().cuda.get_current_stream().is_capturing():
                self._zeros[dtype.char] = cached
        hold(cached)
        return cached[:count]


class _Sessions(threading.local):
    def __init__(self) -> None:
        self.of: dict[int, Session] = {}


_sessions = _Sessions()


def current_session() -> Session:
    """This thread's session on the current device, following the current stream."""
    xp = cupy()
    device = xp.cuda.runtime.getDevice()
    session = _sessions.of.get(device)
    if session is None:
        session = _sessions.of[device] = Session()
    session.follow(xp.cuda.get_current_stream().ptr)
    return session


def forget_sessions() -> None:
    """Make this thread's handles anew next time."""
    _sessions.of.clear()
