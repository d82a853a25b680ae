"""Signals by which the user ends a job: noted, and passed on to the ranks."""

import signal
import threading
import time
from types import FrameType
from typing import Any

_POLL = 0.1  # seconds
_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class EndingRequest:
    """Context manager in which SIGINT (Ctrl-C), SIGTERM and SIGHUP are only noted.

    count: number of signals so far; number: the last one's
    Works in the main thread, where Python handles signals. Ignored signals, as SIGHUP under `nohup`, stay ignored.
    """

    def __init__(self) -> None:
        self.count, self.number = 0, 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "EndingRequest":
        if threading.current_thread() is threading.main_thread():
            for number in _NUMBERS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        while self._before:
            signal.signal(*self._before.popitem())

    def wait(self, seconds: float) -> bool:
        """Waits, unless a signal comes; returns whether there was one."""
        end = time.monotonic() + seconds
        while not self.count and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, _POLL))
        return self.count > 0

    def _note(self, number: int, _: FrameType | None) -> None:
        self.count, self.number = self.count + 1, number
