"""Recompilation policy: whether a shape is frequent enough to be compiled."""

import collections
import threading
from collections.abc import Hashable


class Outermost(threading.local):
    """Thread-local flag: inside of a compiled method, nested methods are neither compiled nor replayed on their own."""

    busy = False


outermost = Outermost()


_N_COUNTED = 256  # shapes whose calls are counted
_AMORTIZED = 50  # replays that amortize a compilation: takes as long as three to five calls and saves a tenth of each


class RecompilationPolicy:
    """A recompilation policy with exponential backoff.

    The first shape is compiled at its second call, the next shape at its fourth, then eighth, and so on, so that a
    stream of ever new shapes stays as fast as eager calls. Fifty replays amortize a compilation: the
    threshold is halved.
    """

    def __init__(self) -> None:
        self._counts: collections.OrderedDict[Hashable, int] = collections.OrderedDict()
        self._recordings = 0
        self._replays = 0

    def should_compile(self, shape: Hashable) -> bool:
        """Counts a call of the shape; returns whether to compile it now."""
        count = self._counts.pop(shape, 0) + 1
        self._counts[shape] = count
        if len(self._counts) > _N_COUNTED:
            self._counts.popitem(last=False)
        unamortized = max(self._recordings - self._replays // _AMORTIZED, 0)
        return count >= 2 ** (unamortized + 1)

    def compiled(self) -> None:
        """Report that the shape was compiled."""
        self._recordings += 1

    def replayed(self, shape: Hashable) -> None:
        """Report that the shape's graph was replayed."""
        self._replays += 1
        if shape in self._counts:
            self._counts[shape] += 1
