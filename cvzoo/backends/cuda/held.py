"""Keeps memory alive that a captured CUDA graph reads, such as cached constants, as long as the graph exists."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any


class _Current(threading.local):
    held: list[Any] | None = None


_current = _Current()


def hold(memory: Any) -> None:
    """Keep `memory` alive as long as the graph that this thread is capturing; a no-op without a capture."""
    if _current.held is not None:
        _current.held.append(memory)


@contextlib.contextmanager
def holding() -> Iterator[list[Any]]:
    """A context for the capture of a graph; yields the objects that must live as long as the graph."""
    before, _current.held = _current.held, []
    try:
        yield _current.held
    finally:
        _current.held = before
