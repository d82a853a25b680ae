"""Detection of Python code that reads array values during capture, which a replay could not repeat."""

import sys
import threading
from collections.abc import Collection
from types import FrameType
from typing import Any, Protocol

from cvzoo.autodiff.variable import Variable
from cvzoo.typing.aliases import Array

# modules whose reads are harmless: they use only metadata, or are repeated by a replay
_MAY_READ = ("cvzoo.functions.", "cvzoo.graph.", "cvzoo.backends.")
_PASSED_BY = ("cvzoo.autodiff.", "cvzoo.singa.", "numpy.")  # modules that pass values on to their callers


class Recorded(Protocol):
    """The part of a `Capture` that readers of values report to."""

    reasons: list[str]
    depth: int
    in_backward: bool
    trains: bool
    is_idle: bool

    @property
    def overwritten(self) -> Collection[int]: ...


class _Recording(threading.local):
    """Thread-local: the capture in progress."""

    capture: Recorded | None = None


recording = _Recording()


class WatchedVariable(Variable):
    """A Variable that reports reads of its values to the capture in progress."""

    __slots__ = ()

    @property
    def array(self) -> Array | Any:  # Any stands for None, as of every Variable
        _report()
        return self._array

    @array.setter
    def array(self, array: Array | Any) -> None:
        _report()
        Variable.array.fset(self, array)  # type: ignore[attr-defined]

    def item(self) -> float | int | bool:
        _report()
        return Variable.item(self)


def _report() -> None:
    reader = reader_of_values()
    if reader is not None:
        report_read(reader)


def report_read(reader: str) -> None:
    """Report a read of values to the capture in progress."""
    capture = recording.capture
    if capture is not None:
        capture.reasons.append(reader)
        if capture.is_idle:
            raise NoValuesError(reader)


def reader_of_values(*, in_functions: bool = True) -> str | None:
    """A description of the code that reads values now, the first caller outside of the calling file; None if a replay
    would read them as well, or without a capture in progress.

    in_functions: whether what a function's `forward` reads counts
    """
    capture = recording.capture
    if capture is None or (capture.depth and not in_functions):
        return None
    frame: FrameType | None = sys._getframe(1)
    own_globals = frame.f_globals if frame else None
    while frame is not None and (
        frame.f_globals is own_globals or frame.f_globals.get("__name__", "").startswith(_PASSED_BY)
    ):
        frame = frame.f_back
    if frame is None or frame.f_globals.get("__name__", "").startswith(_MAY_READ):
        return None
    return f"{frame.f_code.co_name}, line {frame.f_lineno} of {frame.f_globals.get('__name__')}"


def changed_arrays() -> frozenset[int]:
    """The arrays that captured functions changed in place, by `id`."""
    capture = recording.capture
    return frozenset() if capture is None else frozenset(capture.overwritten)


class NoValuesError(Exception):
    """Values were read in a dry run, which computes none."""
