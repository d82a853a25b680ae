"""Signals that end a program, held back until an iteration is finished."""

import contextlib
import os
import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any

# what a terminal, a queueing system or `kill` sends to a process that shall end
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class InterruptWaits:
    """A block in which the first SIGINT (Ctrl-C), SIGTERM or SIGHUP only sets `asked`; the next one ends it at once.

    asked: whether a signal came
    Works in the main thread, where Python handles signals. A signal that somebody else handles in a way of their own,
    or that is ignored (as `nohup` does with SIGHUP), is left alone.
    """

    def __init__(self) -> None:
        self._number: int | None = None
        self._before: dict[int, Any] = {}
        self._terminals: tuple[int, ...] = ()

    @property
    def asked(self) -> bool:
        return self._number is not None

    def error(self) -> BaseException:
        """What ends the program: KeyboardInterrupt after Ctrl-C, else SystemExit of 128 + the signal's number."""
        if self._number in (None, signal.SIGINT):
            return KeyboardInterrupt()
        return SystemExit(128 + self._number)

    def __enter__(self) -> "InterruptWaits":
        if threading.current_thread() is threading.main_thread():
            self._terminals = tuple(number for number in (1, 2) if _is_terminal(number))
            for name in _NAMES:
                number = getattr(signal, name, None)  # SIGHUP is not everywhere
                if number is not None and signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
                    self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        while self._before:
            signal.signal(*self._before.popitem())

    def _handle(self, number: int, frame: FrameType | None) -> None:
        again = self.asked
        self._number = number
        if again:
            raise self.error()
        name = "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
        if name == "SIGHUP":
            self._leave_terminal()
        # not print: the interrupted code may hold the stream's lock, and then a RuntimeError says so
        with contextlib.suppress(RuntimeError, OSError):
            sys.stderr.write(f"\n{name}: this iteration is finished first; {name} again stops at once\n")

    def _leave_terminal(self) -> None:
        """Let output go nowhere where it went to the terminal that is no more: each line would be an error."""
        with open(os.devnull, "wb") as nowhere:
            for number in self._terminals:
                os.dup2(nowhere.fileno(), number)


def _is_terminal(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor)
    except OSError:
        return False
