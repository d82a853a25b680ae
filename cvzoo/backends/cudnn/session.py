"""Execution of plans: a thread's cuDNN handle on a device with its stream and workspace, and plans bound to arrays."""

import ctypes
import sys
import threading
from collections import OrderedDict

import numpy as np

from cvzoo.backends.cudnn.descriptor import Descriptor
from cvzoo.backends.cudnn.library import check, library
from cvzoo.backends.cudnn.names import Attribute, Kind, Type
from cvzoo.backends.cudnn.planner import ExecutionPlan, Target
from cvzoo.backends.cupy.library import CudaPointer, cupy
from cvzoo.backends.transfer import keep_alive
from cvzoo.typing.aliases import Array

_SMALLEST_ARENA = 1 << 20


class Session:
    """A thread's handle on one device, which two threads must not use at once, its stream and its workspace."""

    def __init__(self) -> None:
        self._calls = library().calls
        pointer = ctypes.c_void_p()
        self.handle: int | None = None
        check(self._calls.cudnnCreate(ctypes.addressof(pointer)))
        self.handle = pointer.value
        self.stream: int | None = None
        self._arenas: dict[int, list[CudaPointer]] = {}
        self._zeros: dict[str, Array] = {}

    def __del__(self) -> None:
        if self.handle is not None and not sys.is_finalizing():
            self._calls.cudnnDestroy(self.handle)

    @property
    def target(self) -> Target:
        """The device for which plans are made."""
        return Target(self.handle)

    def follow(self, stream: int) -> None:
        """Run further plans on this stream; stream: its address."""
        if stream != self.stream:
            check(self._calls.cudnnSetStream(self.handle, stream))
            self.stream = stream

    def workspace(self, size: int) -> int:
        """The address of a workspace of at least `size` bytes on the followed stream; 0 for none.

        The kernels of a stream run one after another, so that they share it. One that has become too small is not
        freed, since a captured CUDA graph may use it; as sizes double, that is at most as much memory again.
        """
        if not size:
            return 0
        arenas = self._arenas.setdefault(self.stream or 0, [])
        if not arenas or arenas[-1].mem.size < size:
            new_size = max(size, 2 * arenas[-1].mem.size if arenas else _SMALLEST_ARENA)
            # not from the current allocator, which may be the private pool of a graph
            arenas.append(cupy().get_default_memory_pool().malloc(new_size))
        return arenas[-1].ptr

    def zeros(self, count: int, dtype: np.dtype) -> Array:
        """(count,) zeros, read-only: the bias of a convolution without bias."""
        cached = self._zeros.get(dtype.char)
        if cached is None or cached.size < count:
            cached = cupy().zeros(max(count, 4096), dtype)
            # during a capture nothing is executed: the memory is zeros only after the graph's first launch
            if not cupy().cuda.get_current_stream().is_capturing():
                self._zeros[dtype.char] = cached
        keep_alive(cached)
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
    """Discard this thread's handles."""
    _sessions.of.clear()


_MAX_PACKS = 32  # cached per plan; as arrays come from a pool, the same few addresses recur


class BoundPlan:
    """A plan that runs when it is called with pointers; for one thread.

    Variant packs are cached by their pointers: making one takes about ten times as long as a call, and the pointers of
    a finalized one cannot be changed.
    """

    __slots__ = ("_execute", "_packs", "plan")

    def __init__(self, plan: ExecutionPlan):
        self.plan = plan
        self._packs: OrderedDict[tuple[int, ...], Descriptor] = OrderedDict()
        self._execute = library().calls.cudnnBackendExecute

    def __call__(self, session: Session, pointers: tuple[int, ...]) -> None:
        """Run on the session's stream. pointers: addresses in the order of the plan's uids."""
        workspace = session.workspace(self.plan.workspace)
        key = (workspace, *pointers)
        pack = self._packs.get(key)
        if pack is None:
            pack = self._packs[key] = variant_pack(self.plan, pointers, workspace)
            if len(self._packs) > _MAX_PACKS:
                self._packs.popitem(last=False)
        else:
            self._packs.move_to_end(key)
        status = self._execute(session.handle, self.plan.descriptor.address, pack.address)
        if status:
            check(status)


def variant_pack(plan: ExecutionPlan, pointers: tuple[int, ...], workspace: int) -> Descriptor:
    """The finalized variant pack of a plan's pointers; workspace: an address, or 0."""
    made = Descriptor(Kind.VARIANT_PACK)
    made.set(Attribute.PACK_UIDS, Type.INT64, *plan.uids)
    made.set(Attribute.PACK_POINTERS, Type.POINTER, *pointers)
    return made.set(Attribute.PACK_WORKSPACE, Type.POINTER, workspace).finalize()


def run_once(plan: ExecutionPlan, session: Session, pointers: tuple[int, ...]) -> None:
    """Run a plan once, without caching its variant pack."""
    pack = variant_pack(plan, pointers, session.workspace(plan.workspace))
    check(library().calls.cudnnBackendExecute(session.handle, plan.descriptor.address, pack.address))
