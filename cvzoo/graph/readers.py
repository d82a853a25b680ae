"""Who reads numbers while a pass is recorded: what Python does with them no replay would do again."""

import sys
import threading
from collections.abc import Collection
from types import FrameType
from typing import Any, Protocol

from cvzoo.autodiff.variable import Variable

# who reads arrays there looks at their types, or computes the same from them again
_MAY_READ = ("cvzoo.functions.", "cvzoo.graph.", "cvzoo.backends.")
_PASSED_BY = ("cvzoo.autodiff.", "cvzoo.singa.", "numpy.")  # who hands numbers on


class Recorded(Protocol):
    """A pass that is being recorded, as far as readers of numbers concern it; see `Capture`."""

    seen: list[str]
    depth: int
    in_backward: bool
    is_idle: bool

    @property
    def before(self) -> Collection[int]: ...


class _Recording(threading.local):
    """The pass that this thread records."""

    capture: Recorded | None = None


recording = _Recording()


class WatchedVariable(Variable):
    """A Variable that tells who reads its numbers: what Python does with them no replay would do again."""

    __slots__ = ()

    @property
    def array(self) -> Any:
        _note()
        return self._array

    @array.setter
    def array(self, array: Any) -> None:
        _note()
        Variable.array.fset(self, array)  # type: ignore[attr-defined]

    data = array

    def item(self) -> float | int | bool:
        _note()
        return Variable.item(self)


def _note() -> None:
    reader = reader_of_values()
    if reader is not None:
        tell(reader)


def tell(reader: str) -> None:
    """Let the pass that is being recorded know who read numbers."""
    capture = recording.capture
    if capture is not None:
        capture.seen.append(reader)
        if capture.is_idle:
            raise NoNumbersError(reader)


def reader_of_values(*, in_functions: bool = True) -> str | None:
    """Who reads numbers now, in words: whoever called the caller's file; None if a replay would read them, too, or
    nobody records.

    in_functions: whether what a function's `forward` reads counts
    """
    capture = recording.capture
    if capture is None or (capture.depth and not in_functions):
        return None
    frame: FrameType | None = sys._getframe(1)
    own = frame.f_globals if frame else None
    while frame is not None and (frame.f_globals is own or frame.f_globals.get("__name__", "").startswith(_PASSED_BY)):
        frame = frame.f_back
    if frame is None or frame.f_globals.get("__name__", "").startswith(_MAY_READ):
        return None
    return f"{frame.f_code.co_name}, line {frame.f_lineno} of {frame.f_globals.get('__name__')}"


def changed_arrays() -> frozenset[int]:
    """The arrays that functions of the pass that is being recorded changed in place, by `id`."""
    capture = recording.capture
    return frozenset() if capture is None else frozenset(capture.before)


class NoNumbersError(Exception):
    """Somebody wants numbers in a pass that computes none."""
