"""How far a pass over a data set is."""

import sys
import time

from cvzoo.reporting.as_time import as_time

_BETWEEN = 0.2  # seconds between two lines on a terminal
_BETWEEN_ELSEWHERE = 10.0


class ProgressHook:
    """A hook for `apply_to_iterator` and evaluators: examples done, how many a second, and how long the rest will take.

    n_total: how many there are, usually len(dataset); None if nobody knows
    stream: where to; None: standard error. On a terminal the line is rewritten, elsewhere there is one now and then
    clock: seconds, for tests
    """

    def __init__(self, n_total=None, *, stream=None, clock=time.monotonic):
        self.n_done = 0
        self._n_total = n_total
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._start = None
        self._first = 0
        self._said = -1e9
        self._shown = 0

    def __call__(self, in_values, out_values, rest_values):
        now = self._clock()
        if self._start is None:
            self._start = now  # what came before the first batch is loading, not work
            self._first = len(in_values[0])
        self.n_done += len(in_values[0])
        is_terminal = self._stream.isatty()
        is_last = self.n_done == self._n_total
        if not is_last and now - self._said < (_BETWEEN if is_terminal else _BETWEEN_ELSEWHERE):
            return
        self._said = now
        line = self.text()
        if is_terminal:
            self._stream.write("\r" + line.ljust(self._shown) + ("\n" if is_last else ""))
            self._shown = len(line)
        else:
            self._stream.write(line + "\n")
        self._stream.flush()

    def text(self):
        """As "40 of 1000 examples, 8.3 a second, 1:56 left"."""
        parts = [f"{self.n_done} examples" if self._n_total is None else f"{self.n_done} of {self._n_total} examples"]
        elapsed = 0.0 if self._start is None else self._clock() - self._start
        counted = self.n_done - self._first
        if elapsed > 0 and counted > 0:
            rate = counted / elapsed
            parts.append(f"{rate:.1f} a second" if rate >= 0.1 else f"{1 / rate:.0f} seconds each")
            if self._n_total is not None and self.n_done < self._n_total:
                parts.append(f"{as_time((self._n_total - self.n_done) / rate)} left")
        return ", ".join(parts)
