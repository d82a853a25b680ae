"""Prints progress: on a terminal a line that is rewritten, otherwise one line every 10 seconds."""

import time
from collections.abc import Callable
from typing import TextIO

from cvzoo.reporting.as_time import as_time
from cvzoo.reporting.counted import counted

_ON_TERMINAL, _ELSEWHERE = 0.2, 10.0  # seconds between two lines


class Progress:
    """Prints processed images, images per second and time left.

    stream: output, usually standard error; None: no output
    total: number of images, None if unknown
    unit: what is counted, in the singular
    clock: returns seconds; for tests
    """

    def __init__(
        self,
        stream: TextIO | None,
        *,
        total: int | None,
        unit: str = "image",
        clock: Callable[[], float] = time.monotonic,
    ):
        self.n_done = 0
        self._stream = stream
        self._total = total
        self._unit = unit
        self._clock = clock
        self._start = self._said = clock()
        self._rewrites = stream is not None and stream.isatty()
        self._shown = 0  # characters on the terminal's line to erase before other output

    def step(self) -> None:
        """Counts one more processed image."""
        self.n_done += 1
        now = self._clock()
        if self._stream is None or now - self._said < (_ON_TERMINAL if self._rewrites else _ELSEWHERE):
            return
        self._said = now
        line = self.text()
        if self._rewrites:
            self._stream.write("\r" + line.ljust(self._shown))
            self._shown = len(line)
        else:
            self._stream.write(line + "\n")
        self._stream.flush()

    def text(self) -> str:
        """The progress as in "40 of 1000 images, 8.3 a second, 1:56 left"."""
        elapsed = self._clock() - self._start
        rate = self.n_done / elapsed if elapsed > 0 else 0.0
        of = "" if self._total is None else f"{self.n_done} of "
        parts = [of + counted(self.n_done if self._total is None else self._total, self._unit)]
        if rate > 0:
            parts.append(f"{rate:.1f} a second" if rate >= 0.1 else f"{1 / rate:.0f} seconds each")
            if self._total is not None and self.n_done < self._total:
                parts.append(f"{as_time((self._total - self.n_done) / rate)} left")
        return ", ".join(parts)

    def clear(self) -> None:
        """Erases the line from the terminal, so that something else can be printed."""
        if self._shown and self._stream is not None:
            self._stream.write("\r" + " " * self._shown + "\r")
            self._stream.flush()
            self._shown = 0

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._start
