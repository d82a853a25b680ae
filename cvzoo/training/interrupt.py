"""Ctrl-C that waits for the end of an iteration."""

import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any


class InterruptWaits:
    """A block in which the first Ctrl-C only sets `asked`; the second one interrupts at once, as usual.

    Works in the main thread, where Python handles signals; elsewhere, and where somebody else handles Ctrl-C in
    a way of their own, it does nothing.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: Any = None
        self._installed = False

    def __enter__(self) -> "InterruptWaits":
        usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if usual and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._handle)
            self._installed = True
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, self._before)
            self._installed = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        # not print: the interrupted code may hold the stream's lock
        message = "\nCtrl-C: this iteration is finished first; Ctrl-C again stops at once\n"
        try:
            sys.stderr.write(message)
        except RuntimeError:  # a write of the same stream was interrupted
            pass
