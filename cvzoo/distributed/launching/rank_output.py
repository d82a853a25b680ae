"""Output of ranks: read from pipes, written to a log file per rank, and remembered for the report of a failure."""

import contextlib
import json
import os
import pathlib
import selectors
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import IO, Any

_TAIL = 4096  # bytes of each rank that are remembered
_CHUNK = 1 << 16


class RankLog:
    """The log file of one rank, and the end of it in memory.

    path: of the file
    error: of the first failed write, after which nothing more is written; None before
    """

    def __init__(self, path: pathlib.Path):
        self.path = path
        self.error: OSError | None = None
        self._tail = b""
        self._file: Any = None
        with self._noting():
            self._file = open(path, "wb", buffering=0)  # noqa: SIM115, as long as the job

    @contextlib.contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.error = error

    def write(self, data: bytes) -> None:
        """Appends data; a full disk is noted as `error`."""
        self._tail = (self._tail + data)[-_TAIL:]
        if self.error is None:
            with self._noting():
                while data:
                    data = data[self._file.write(data) :]

    @property
    def tail(self) -> str:
        """The end of the output."""
        return self._tail.decode("utf-8", "replace").replace("\r", "\n")

    def last_lines(self, n: int) -> list[str]:
        """The last lines that are not empty."""
        return [line for line in self.tail.splitlines() if line.strip()][-n:]

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class RankPipes:
    """Context manager of the named pipes in a folder, to which the keepers of these ranks write.

    on_event: called with each event of a keeper, a dictionary with its rank
    on_output: called with rank, data, and whether it is of standard error
    """

    def __init__(
        self,
        folder: pathlib.Path,
        ranks: Iterable[int],
        on_event: Callable[[dict[str, Any]], None],
        on_output: Callable[[int, bytes, bool], None],
    ):
        self._folder, self._ranks = folder, tuple(ranks)
        self._on_event, self._on_output = on_event, on_output
        self._selector = selectors.DefaultSelector()
        self._opened = contextlib.ExitStack()
        self._events = b""

    def __enter__(self) -> "RankPipes":
        with contextlib.ExitStack() as opened:
            self._opened = opened
            opened.enter_context(self._selector)
            self._open("events", self._take_events)
            for rank in self._ranks:
                for name, is_error in (("out", False), ("err", True)):
                    self._open(f"{name}-{rank}", partial(self._take_output, rank, is_error))
            self._opened = opened.pop_all()  # without an error, by which all are closed again
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def _open(self, name: str, take: Callable[[bytes], None]) -> None:
        path = self._folder / name
        os.mkfifo(path, 0o600)
        # for reading and writing: without writers it would be at its end all the time
        descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self._opened.callback(os.close, descriptor)
        self._selector.register(descriptor, selectors.EVENT_READ, take)

    def add(self, file: IO[bytes], take: Callable[[bytes], None]) -> None:
        """Reads another file, such as a process's output, too, until its end."""
        os.set_blocking(file.fileno(), False)
        self._selector.register(file, selectors.EVENT_READ, take)

    def read(self, seconds: float) -> bool:
        """Reads what is there, or comes within `seconds`; returns whether there was anything."""
        ready = self._selector.select(seconds)
        for key, _ in ready:
            data = os.read(key.fd, _CHUNK)
            if data:
                key.data(data)
            else:
                self._selector.unregister(key.fileobj)
        return bool(ready)

    def _take_output(self, rank: int, is_error: bool, data: bytes) -> None:
        self._on_output(rank, data, is_error)

    def _take_events(self, data: bytes) -> None:
        *lines, self._events = (self._events + data).split(b"\n")
        for line in lines:
            self._on_event(json.loads(line))
