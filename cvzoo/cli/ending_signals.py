"""Signals that end a command, which wait while results are written."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

# the signals by which a terminal, a queueing system or `kill` ends a process; some systems have no SIGHUP
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class Ended(KeyboardInterrupt):
    """The command was ended by a signal of this number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class EndingSignals:
    """Context manager in which SIGINT (Ctrl-C), SIGTERM and SIGHUP raise `Ended`, but not within `held()`.

    Works in the main thread, where Python handles signals. Signals with a handler of the caller, and ignored ones (as
    SIGHUP under `nohup`), are left to them.
    """

    def __init__(self) -> None:
        self._number: int | None = None
        self._is_held = False
        self._before: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """A block that is completed before a signal raises `Ended`; a second signal raises at once."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
        if self._number is not None:
            raise Ended(self._number)

    def __enter__(self) -> "EndingSignals":
        if threading.current_thread() is threading.main_thread():
            for name in _NAMES:
                number = getattr(signal, name, None)
                if number is not None and signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
                    self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        while self._before:
            signal.signal(*self._before.popitem())

    def _handle(self, number: int, _: FrameType | None) -> None:
        again, self._number = self._number is not None, number
        if again or not self._is_held:
            raise Ended(number)
