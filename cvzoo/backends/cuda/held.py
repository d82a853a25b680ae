"""What a CUDA graph reads besides its own memory, and who made it may forget: kept for as long as the graph."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any


class _Current(threading.local):
    held: list[Any] | None = None


_current = _Current()


def hold(memory: Any) -> None:
    """Keep `memory` as long as the graph that this thread is capturing; where there is none, nothing happens."""
    if _current.held is not None:
        _current.held.append(memory)


@contextlib.contextmanager
def holding() -> Iterator[list[Any]]:
    """A block in which a graph is captured; what it gives must live as long as the graph."""
    before, _current.held = _current.held, []
    try:
        yield _current.held
    finally:
        _current.held = before
