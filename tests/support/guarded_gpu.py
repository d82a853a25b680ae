"""A plugin of pytest: arrays of made-up GPUs end (or begin) at a page that nobody may touch.

    pytest -p guarded_gpu tests/backends/cupy        each array ends at such a page, to 16 bytes
    CVZOO_GUARD=start pytest -p guarded_gpu ...      each array begins behind one

A kernel that reads or writes beyond an array ends the process; faulthandler says in which test.
"""

import ctypes
import mmap
import os

import numpy as np
from fake_gpu import memory
from fake_gpu.machine import machine

_PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int


class _Guarded(memory.Memory):
    def __init__(self, size):
        here = machine()
        self.device_id = here.here.device
        self.size = size
        room = -(-max(size, 1) // _PAGE) * _PAGE
        self._pages = mmap.mmap(-1, room + 2 * _PAGE)
        whole = np.frombuffer(self._pages, np.uint8)
        first = whole.ctypes.data
        offset = _PAGE if os.environ.get("CVZOO_GUARD") == "start" else _PAGE + room - -(-size // 16) * 16
        self.raw = whole[offset : offset + size]
        self.raw[:] = memory.GARBAGE
        self.ptr = first + offset
        self._guards = ()
        self._machine = lambda: None
        self.is_captured = False
        for forbidden in (first, first + room + _PAGE):
            assert _libc.mprotect(forbidden, _PAGE, 0) == 0
        here.memory.add(self)
        here.record("alloc", "cudaMalloc", size)


def _malloc(self, size):
    return memory.MemoryPointer(_Guarded(size), 0)


memory.MemoryPool.malloc = _malloc
