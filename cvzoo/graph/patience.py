"""When a shape has come often enough that recording it pays."""

import collections
import threading
from collections.abc import Hashable


class Outermost(threading.local):
    """Of this thread. What such a method calls is a part of it, and is neither recorded nor replayed by itself."""

    busy = False


outermost = Outermost()


_REMEMBERED = 256  # shapes of which it is known how often they came
_PAYS = 50  # replays that pay for a recording, which takes as long as five calls and saves a tenth of each or more


class Patience:
    """The first shape is worth a recording when it comes for the second time, the next when it has come four times,
    then eight, and so on: so a stream of ever new shapes stays as fast as it was. Fifty replays pay for a recording,
    and the next one is waited for half as long.
    """

    def __init__(self) -> None:
        self._came: collections.OrderedDict[Hashable, int] = collections.OrderedDict()
        self._recordings = 0
        self._replays = 0

    def comes(self, shape: Hashable) -> bool:
        """Whether the shape, which comes once more, is worth a recording."""
        count = self._came.pop(shape, 0) + 1
        self._came[shape] = count
        if len(self._came) > _REMEMBERED:
            self._came.popitem(last=False)
        unpaid = max(self._recordings - self._replays // _PAYS, 0)
        return count >= 2 ** (unpaid + 1)

    def recorded(self) -> None:
        """A shape that came has been recorded."""
        self._recordings += 1

    def replayed(self, shape: Hashable) -> None:
        """The shape came, and its graph has been replayed."""
        self._replays += 1
        if shape in self._came:
            self._came[shape] += 1
