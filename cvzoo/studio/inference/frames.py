"""Messages between the server and a process: an object of JSON and bytes, each after its length."""

import contextlib
import json
import struct
import subprocess
import threading
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


@contextlib.contextmanager
def killed_after(process: "subprocess.Popen[bytes]", seconds: float) -> Iterator[threading.Event]:
    """A block after whose time the process is killed; the event says whether it was."""
    expired = threading.Event()

    def expire() -> None:
        expired.set()
        process.kill()

    timer = threading.Timer(seconds, expire)
    timer.daemon = True
    timer.start()
    try:
        yield expired
    finally:
        timer.cancel()


def _exactly(file: IO[bytes], n: int) -> bytes:
    data = file.read(n)
    if len(data) < n:
        raise EOFError("the process has ended")
    return data
