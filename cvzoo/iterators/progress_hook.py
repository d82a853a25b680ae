"""Prints the progress of a pass over a data set."""

import sys
import time
from collections.abc import Callable, Sequence
from typing import TextIO

from cvzoo.reporting.as_time import as_time
from cvzoo.reporting.counted import counted

_TERMINAL_INTERVAL = 0.2  # seconds between two lines
_FILE_INTERVAL = 10.0


class ProgressHook:
    """A hook of `apply_to_iterator` and evaluators that prints processed examples, examples per second and time left.

    n_total: number of examples, usually len(dataset); None if unknown
    stream: output; None: standard error. On a terminal the line is rewritten, elsewhere one is added every 10 seconds
    clock: returns seconds; for tests
    """

    def __init__(
        self,
        n_total: int | None = None,
        *,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.n_done = 0
        self._n_total = n_total
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._start: float | None = None
        self._first = 0
        self._last_printed = -1e9
        self._width = 0

    def __call__(self, in_values: Sequence[Sequence[object]], out_values: object, rest_values: object) -> None:
        now = self._clock()
        if self._start is None:
            self._start = now  # the time before the first result is start-up, not throughput
            self._first = len(in_values[0])
        self.n_done += len(in_values[0])
        is_terminal = self._stream.isatty()
        is_last = self.n_done == self._n_total
        if not is_last and now - self._last_printed < (_TERMINAL_INTERVAL if is_terminal else _FILE_INTERVAL):
            return
        self._last_printed = now
        line = self.text()
        if is_terminal:
            self._stream.write("\r" + line.ljust(self._width) + ("\n" if is_last else ""))
            self._width = len(line)
        else:
            self._stream.write(line + "\n")
        self._stream.flush()

    def text(self) -> str:
        """The progress as in "40 of 1000 examples, 8.3 a second, 1:56 left"."""
        parts = [
            counted(self.n_done, "example")
            if self._n_total is None
            else f"{self.n_done} of {counted(self._n_total, 'example')}"
        ]
        elapsed = 0.0 if self._start is None else self._clock() - self._start
        n_new = self.n_done - self._first
        if elapsed > 0 and n_new > 0:
            rate = n_new / elapsed
            parts.append(f"{rate:.1f} a second" if rate >= 0.1 else f"{1 / rate:.0f} seconds each")
            if self._n_total is not None and self.n_done < self._n_total:
                parts.append(f"{as_time((self._n_total - self.n_done) / rate)} left")
        return ", ".join(parts)
