"""Streams, events and graphs, which really record and replay."""

import itertools
import time
from typing import Any

from fake_gpu.machine import Capture, CUDARuntimeError, FakeGpuError, machine

_handles = itertools.count(0x900000, 16)


class Event:
    """A place in a stream's work."""

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False):
        self.ptr = next(_handles)
        self._device = machine().here.device
        self._timing = not disable_timing
        self._time: float | None = None
        self._capture: Capture | None = None
        self._stream: int | None = None
        self._after = 0
        self._done = True

    @property
    def done(self) -> bool:
        return self._done

    def record(self, stream: Any = None) -> None:
        here = machine()
        state = here.stream(None if stream is None else stream.ptr)
        if state.device != self._device:
            raise CUDARuntimeError("cudaErrorInvalidResourceHandle: an event of another device")
        self._stream, self._capture = state.ptr, state.capture
        here.record("event", "record", 0, state.ptr)
        if state.capture is not None:
            self._after = len(state.capture.nodes)
        elif here.late and state.waiting:
            self._done = False
            state.waiting.append(self._happened)
        else:
            self._happened()

    def _happened(self) -> None:
        self._time = time.perf_counter()
        self._done = True

    def synchronize(self) -> None:
        if self._capture is not None:
            self._capture.broken = "Event.synchronize"
            raise CUDARuntimeError("cudaErrorCapturedEvent: an event of a capture cannot be waited for")
        if self._stream is not None:
            here = machine()
            here.refuse_in_capture("Event.synchronize", self._stream)
            here._check_allowed("Event.synchronize")
            here.record("sync", "Event.synchronize", 0, self._stream)
            here.drain(here.stream(self._stream))


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds between two events."""
    if not (start_event._timing and end_event._timing) or start_event._time is None or end_event._time is None:
        raise CUDARuntimeError("cudaErrorInvalidResourceHandle: the events have no times")
    return (end_event._time - start_event._time) * 1e3


class BaseStream:
    """What streams share."""

    def __init__(self, ptr: int, device_id: int):
        self.ptr = ptr
        self.device_id = device_id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BaseStream) and self.ptr == other.ptr

    def __hash__(self) -> int:
        return self.ptr

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.ptr} (device {self.device_id})>"

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.ptr

    def _check_device(self) -> int:
        current = machine().here.device
        device = current if self.device_id == -1 else self.device_id
        if device != current:
            raise RuntimeError(
                f"The device that the stream is created on ({device}) does not match with the current ({current})"
            )
        return device

    def __enter__(self) -> "BaseStream":
        device = self._check_device()
        here = machine().here
        stack = here.__dict__.setdefault("stack", [])
        stack.append((device, here.streams.get(device)))
        here.streams[device] = self
        return self

    def __exit__(self, *ignored: Any) -> None:
        here = machine().here
        device, before = here.stack.pop()
        here.streams[device] = before

    def use(self) -> "BaseStream":
        machine().here.streams[self._check_device()] = self
        return self

    @property
    def done(self) -> bool:
        machine().refuse_in_capture("streamQuery", self.ptr)
        return not machine().stream(self.ptr).waiting

    def synchronize(self) -> None:
        machine().sync("Stream.synchronize", self.ptr)

    def record(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        here = machine()
        state = here.stream(self.ptr)
        here.record("event", "wait", 0, self.ptr)
        if event._capture is not None:
            if state.capture is None:
                state.capture = event._capture
                event._capture.streams[state.ptr] = state
            elif state.capture is not event._capture:
                raise CUDARuntimeError("cudaErrorStreamCaptureMerge: two captures meet")
            capture = state.capture
            if event._stream is not None and event._stream != state.ptr:
                capture.joined_up_to[event._stream] = max(event._after, capture.joined_up_to.get(event._stream, 0))
        elif state.capture is not None:
            raise CUDARuntimeError("cudaErrorStreamCaptureIsolation: waits for work from before the capture")
        elif here.late and event._stream is not None and not event._done:
            waits_for = here.stream(event._stream)
            if state.ptr:
                state.waiting.append(lambda: here.drain(waits_for))
            else:
                here.drain(waits_for)

    def begin_capture(self, mode: int | None = None) -> None:
        if self.ptr in (0, 1):
            raise RuntimeError("cannot capture on the default (legacy) stream")
        here = machine()
        state = here.stream(self.ptr)
        if state.capture is not None:
            raise CUDARuntimeError("cudaErrorIllegalState: the stream captures already")
        here.drain(state)
        state.capture = Capture(state)
        here.record("capture", "begin", 0, self.ptr)

    def end_capture(self) -> "Graph":
        here = machine()
        state = here.stream(self.ptr)
        capture = state.capture
        if capture is None:
            raise CUDARuntimeError("cudaErrorIllegalState: the stream does not capture")
        if capture.origin is not state:
            raise CUDARuntimeError("cudaErrorStreamCaptureUnmatched: another stream began this capture")
        here.record("capture", "end", 0, self.ptr)
        for other in capture.streams.values():
            other.capture = None
        if capture.broken is not None:
            raise CUDARuntimeError(f"cudaErrorStreamCaptureInvalidated: {capture.broken}")
        for ptr in capture.streams:
            last = max((k for k, node in enumerate(capture.nodes) if node.entry.stream == ptr), default=-1)
            if ptr != self.ptr and last >= capture.joined_up_to.get(ptr, 0):
                raise CUDARuntimeError("cudaErrorStreamCaptureUnjoined: a stream's work was not waited for")
        return Graph(capture)

    def is_capturing(self) -> bool:
        return machine().is_capturing(self.ptr)

    def launch_host_func(self, callback: Any, arg: Any) -> None:
        machine().run("host function", lambda: callback(arg), stream=self.ptr)

    @property
    def is_non_blocking(self) -> bool:
        return machine().stream(self.ptr).non_blocking


class Stream(BaseStream):
    """A stream of the current device."""

    null: "Stream"

    def __init__(self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: int | None = None):
        if null:
            super().__init__(0, -1)
        else:
            state = machine().new_stream(non_blocking)
            super().__init__(state.ptr, state.device)


class ExternalStream(BaseStream):
    """A stream that somebody else made."""

    def __init__(self, ptr: int, device_id: int = -1):
        super().__init__(ptr, device_id)


Stream.null = Stream(null=True)


def get_current_stream(device_id: int = -1) -> BaseStream:
    """The stream that work goes to."""
    here = machine().here
    return here.streams.get(here.device if device_id < 0 else device_id) or Stream.null


class Graph:
    """Work that was recorded, done again with each launch."""

    def __init__(self, capture: Capture):
        self._nodes = tuple(capture.nodes)
        self._device = capture.origin.device

    @property
    def nodes(self) -> tuple:
        """For tests: what was recorded, as entries."""
        return tuple(node.entry for node in self._nodes)

    def launch(self, stream: Any = None) -> None:
        for node in self._nodes:
            if any(reference() is None for reference in node.touches):
                raise FakeGpuError(f"a graph's {node.entry.name} uses memory that was given back to the driver")

        def work() -> None:
            for node in self._nodes:
                node.work()

        ptr = None if stream is None else stream.ptr
        machine().run("graph", work, kind="graph_launch", size=len(self._nodes), stream=ptr)

    def upload(self, stream: Any = None) -> None:
        machine().record("capture", "upload", 0, None if stream is None else stream.ptr)
