"""Messages between the server and a process: an object of JSON and bytes, each after its length."""

import contextlib
import json
import math
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from typing import IO, Any

MAX_BYTES = 256 << 20
_LENGTHS = struct.Struct("<II")


def write_frame(file: IO[bytes], tree: dict[str, Any], payload: bytes = b"") -> None:
    """Writes one message. Raises OSError, such as BrokenPipeError if the other process has ended."""
    text = json.dumps(tree).encode()
    file.write(_LENGTHS.pack(len(text), len(payload)) + text)
    file.write(payload)
    file.flush()


def read_frame(file: IO[bytes]) -> tuple[dict[str, Any], bytes]:
    """The next message. Raises EOFError if the other process has ended, or writes something else."""
    n_text, n_payload = _LENGTHS.unpack(_exactly(file, _LENGTHS.size))
    if max(n_text, n_payload) > MAX_BYTES:
        raise EOFError("a message is too long")
    text, payload = _exactly(file, n_text), _exactly(file, n_payload)
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        raise EOFError("a message is malformed") from None
    if not isinstance(tree, dict):
        raise EOFError("a message is malformed")
    return tree, payload


class _Watch:
    """Kills processes whose time is over. One thread for all questions: a timer for each would take 0.5 ms to start."""

    def __init__(self) -> None:
        self._known: dict[threading.Event, tuple[float, subprocess.Popen[bytes]]] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._wakes = math.inf  # when the thread looks again by itself

    def add(self, process: "subprocess.Popen[bytes]", seconds: float) -> threading.Event:
        """Watches the process; the event is set before it is killed."""
        expired, at = threading.Event(), time.monotonic() + seconds
        with self._changed:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
                self._thread.start()
            self._known[expired] = at, process
            if at < self._wakes:
                self._changed.notify()
        return expired

    def remove(self, expired: threading.Event) -> None:
        """Watches it no more."""
        with self._changed:
            self._known.pop(expired, None)

    def _run(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                for each in [each for each, (at, _) in self._known.items() if at <= now]:
                    each.set()
                    self._known.pop(each)[1].kill()
                self._wakes = min((at for at, _ in self._known.values()), default=math.inf)
                self._changed.wait(None if self._wakes == math.inf else self._wakes - now)


_WATCH = _Watch()


@contextlib.contextmanager
def killed_after(process: "subprocess.Popen[bytes]", seconds: float) -> Iterator[threading.Event]:
    """A block after whose time the process is killed; the event says whether it was."""
    expired = _WATCH.add(process, seconds)
    try:
        yield expired
    finally:
        _WATCH.remove(expired)


def _exactly(file: IO[bytes], n: int) -> bytes:
    data = file.read(n)
    if len(data) < n:
        raise EOFError("the process has ended")
    return data
