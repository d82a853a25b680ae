"""The devices that are made up: what runs on them is run at once, written down, or kept in a graph."""

import contextlib
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple


class FakeGpuError(RuntimeError):
    """Something that a GPU would answer with wrong numbers or a crash."""


class CUDARuntimeError(RuntimeError):
    """CUDA's own refusal, named as CuPy names it; `status` is CUDA's number."""

    def __init__(self, words: str, status: int = 999):
        super().__init__(words)
        self.status = status


class Entry(NamedTuple):
    """What was asked of a device.

    kind: launch, d2d, p2p, h2d, d2h, memset, sync, alloc, free, capture, graph_launch
    """

    kind: str
    name: str
    bytes: int
    stream: int
    device: int


class Recorder(list):
    """All that was asked of the devices, in order: a list of `Entry`."""

    def counts(self) -> Counter:
        """How often each kind."""
        return Counter(entry.kind for entry in self)

    def of(self, *kinds: str) -> list[Entry]:
        """The entries of these kinds."""
        return [entry for entry in self if entry.kind in kinds]

    def names(self, kind: str = "launch") -> list[str]:
        """The names of one kind, in order."""
        return [entry.name for entry in self if entry.kind == kind]


class StreamState:
    """What the driver knows of a stream."""

    def __init__(self, ptr: int, device: int, non_blocking: bool):
        self.ptr = ptr
        self.device = device
        self.non_blocking = non_blocking
        self.capture: Capture | None = None
        self.waiting: list[Callable[[], None]] = []  # where streams run late


class Node(NamedTuple):
    """One piece of work of a graph; `touches` are weak references to the memory that it reads and writes."""

    entry: Entry
    work: Callable[[], None]
    touches: tuple


class Capture:
    """The nodes that streams record together, and the streams that take part."""

    def __init__(self, origin: StreamState):
        self.origin = origin
        self.nodes: list[Node] = []
        self.streams = {origin.ptr: origin}
        self.joined_up_to: dict[int, int] = {}  # how much of each other stream the origin has waited for
        self.broken: str | None = None


class _PerThread(threading.local):
    def __init__(self) -> None:
        self.device = 0
        self.streams: dict[int, Any] = {}


class Machine:
    """So many devices, their streams, and what they were asked."""

    def __init__(self, devices: int):
        self.devices = devices
        self.recorder = Recorder()
        self.here = _PerThread()
        self.null = [StreamState(0, k, False) for k in range(devices)]
        self.streams: dict[int, StreamState] = {}
        self.memory: weakref.WeakSet = weakref.WeakSet()
        self.broken: list[str] = []  # found where nothing can be raised
        self.capacity: int | None = None  # bytes of each device; None: no end of them
        self.late = False  # streams other than the default one run only when somebody waits for them
        self._forbidden: list[str] = []
        self._next = 0x51000

    # --- streams ----------------------------------------------------------------------------------------------------
    def new_stream(self, non_blocking: bool) -> StreamState:
        self._next += 16
        state = self.streams[self._next] = StreamState(self._next, self.here.device, non_blocking)
        return state

    def stream(self, ptr: int | None = None) -> StreamState:
        """The state of a stream; of the current one of the current device without `ptr`."""
        if ptr is None:
            current = self.here.streams.get(self.here.device)
            ptr = 0 if current is None else current.ptr
        if ptr in (0, 1):
            return self.null[self.here.device]
        found = self.streams.get(ptr)
        if found is None:
            raise CUDARuntimeError("cudaErrorInvalidResourceHandle: no such stream")
        return found

    # --- work -------------------------------------------------------------------------------------------------------
    def record(self, kind: str, name: str, size: int = 0, stream: int | None = None) -> Entry:
        state = self.stream(stream)
        entry = Entry(kind, name, size, state.ptr, state.device)
        self.recorder.append(entry)
        return entry

    def is_capturing(self, stream: int | None = None) -> bool:
        capture = self.stream(stream).capture
        if capture is not None and capture.broken is not None:
            raise RuntimeError("the stream was capturing, but an error has invalidated the capture sequence")
        return capture is not None

    def run(
        self,
        name: str,
        work: Callable[[], None],
        *,
        kind: str = "launch",
        size: int = 0,
        stream: int | None = None,
        touches: tuple = (),
    ) -> None:
        """Enqueue work: done at once, or kept where the stream captures."""
        state = self.stream(stream)
        if state.device != self.here.device:
            raise CUDARuntimeError(
                f"cudaErrorInvalidResourceHandle: {name}: a stream of device {state.device}, "
                f"and device {self.here.device} is current"
            )
        entry = self.record(kind, name, size, stream)
        if state.capture is not None:
            state.capture.nodes.append(Node(entry, work, tuple(weakref.ref(each) for each in touches)))
        elif self.late and state.ptr:
            state.waiting.append(work)
        else:
            if not state.ptr:  # the default stream and blocking ones wait for each other
                for other in self.streams.values():
                    if not other.non_blocking and other.device == state.device:
                        if other.capture is not None:
                            raise CUDARuntimeError(
                                f"cudaErrorStreamCaptureImplicit: {name}: the default stream depends on one that is "
                                "being captured; it must be non-blocking"
                            )
                        self.drain(other)
            work()

    def drain(self, state: StreamState) -> None:
        """Do what a late stream has put off."""
        while state.waiting:
            state.waiting.pop(0)()

    def sync(self, name: str, stream: int | None = None) -> None:
        """Wait for a stream."""
        state = self.stream(stream)
        self.refuse_in_capture(f"{name} waits for a stream", stream)
        self._check_allowed(name)
        self.record("sync", name, 0, stream)
        self.drain(state)

    def sync_device(self, name: str) -> None:
        """Wait for all of the current device."""
        for state in self.streams.values():
            if state.device == self.here.device and state.capture is not None:
                state.capture.broken = name
                raise CUDARuntimeError(f"cudaErrorStreamCaptureUnsupported: {name} while a stream captures")
        self._check_allowed(name)
        self.record("sync", name, 0, 0)
        for state in self.streams.values():
            if state.device == self.here.device:
                self.drain(state)

    def refuse_in_capture(self, what: str, stream: int | None = None) -> None:
        """Raise if the stream captures: CUDA, or CuPy before it, refuses this."""
        capture = self.stream(stream).capture
        if capture is not None:
            capture.broken = what
            raise RuntimeError(f"the current stream is capturing, so this is not allowed: {what}")

    def _check_allowed(self, name: str) -> None:
        if self._forbidden:
            raise FakeGpuError(f"{name} waits for the device in {self._forbidden[-1]}")

    @contextlib.contextmanager
    def no_sync(self, what: str = "what must not wait") -> Iterator[None]:
        """Whatever waits for a device inside raises, with the place that asked for it in the traceback."""
        self._forbidden.append(what)
        try:
            yield
        finally:
            self._forbidden.pop()


_machines: list[Machine] = []


def machine() -> Machine:
    """The machine that stands in now."""
    if not _machines:
        raise FakeGpuError("no fake GPU is there: an array outlives the `with fake_gpu()` it was made in")
    return _machines[-1]


def push(made: Machine) -> None:
    """Make this one stand in."""
    _machines.append(made)


def pop() -> Machine:
    """The one that stood in, which does no longer."""
    return _machines.pop()


def is_there() -> bool:
    """Whether a machine stands in."""
    return bool(_machines)
