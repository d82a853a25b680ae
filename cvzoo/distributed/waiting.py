"""Waiting for messages of MPI without keeping a CPU core busy."""

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")
# MPI's own calls poll without end. With fewer free CPU cores than ranks, the rank that is waited for does not run
# meanwhile: an allreduce of 1 MB took four to eight times as long as with these pauses. Yielding does not help.
_POLLING = 1e-4  # seconds, in which most messages of an idle machine arrive
_PAUSE = 2e-5  # seconds between polls afterwards


class _Last(threading.local):
    was_polled = True  # whether this thread's last message arrived before the pauses


_last = _Last()


def wait_for(poll: Callable[[], T]) -> T:
    """The first true result of `poll`, which is called again and again, with pauses after a while.

    The pauses begin at once if the last message of this thread took long: other programs compete for the CPU then.
    """
    result = poll()
    if result:
        return result
    end = time.perf_counter() + (_POLLING if _last.was_polled else 0)
    _last.was_polled = True
    while not result:
        if time.perf_counter() > end:
            _last.was_polled = False
            time.sleep(_PAUSE)
        result = poll()
    return result


def wait_for_all(requests: Iterable[Any]) -> None:
    """Returns when all of mpi4py's requests are complete."""
    for request in requests:
        wait_for(request.Test)
