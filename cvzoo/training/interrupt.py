"""Deferral of termination signals until an iteration is complete."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType, TracebackType

# the signals by which a terminal, a queueing system or `kill` ends a process
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class DeferredInterrupt:
    """Context manager in which the first SIGINT (Ctrl-C), SIGTERM or SIGHUP only sets `requested`; the second ends it.

    requested: whether a signal was received
    Works in the main thread, where Python handles signals. Signals with a handler of the caller, and ignored ones (as
    SIGHUP under `nohup`), are not deferred.
    """

    def __init__(self) -> None:
        self._number: int | None = None
        self._before: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}
        self._terminals: tuple[int, ...] = ()

    @property
    def requested(self) -> bool:
        return self._number is not None

    def error(self) -> BaseException:
        """The exception that ends the program: KeyboardInterrupt after Ctrl-C, else SystemExit(128 + signal number)."""
        if self._number in (None, signal.SIGINT):
            return KeyboardInterrupt()
        return SystemExit(128 + self._number)

    def __enter__(self) -> "DeferredInterrupt":
        if threading.current_thread() is threading.main_thread():
            self._terminals = tuple(number for number in (1, 2) if _is_terminal(number))
            for name in _NAMES:
                number = getattr(signal, name, None)  # some systems have no SIGHUP
                if number is not None and signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
                    self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        while self._before:
            signal.signal(*self._before.popitem())

    def _handle(self, number: int, frame: FrameType | None) -> None:
        again = self.requested
        self._number = number
        if again:
            raise self.error()
        name = "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
        if name == "SIGHUP":
            self._leave_terminal()
        # not print: if the interrupted code has the lock of the stream, this is a RuntimeError
        with contextlib.suppress(RuntimeError, OSError):
            sys.stderr.write(f"\n{name}: stops after this iteration; {name} again stops at once\n")

    def _leave_terminal(self) -> None:
        """Redirects output of the closed terminal to the null device: each line would be an error."""
        with open(os.devnull, "wb") as nowhere:
            for number in self._terminals:
                os.dup2(nowhere.fileno(), number)


def _is_terminal(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor)
    except OSError:
        return False
