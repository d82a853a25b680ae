"""Work in NumPy shared among threads: it lets others run while it computes."""

import concurrent.futures
import itertools
import os
from collections.abc import Callable, Sequence
from typing import Any

from cvzoo.backends.threads import thread_count

_executors: list[concurrent.futures.ThreadPoolExecutor] = []
os.register_at_fork(after_in_child=_executors.clear)  # a child has none of its parent's threads


def in_threads(parts: Sequence[Any], work: Callable[[Any], None]) -> None:
    """Call `work` with each of the parts, in any order and in as many threads as kernels may use, this one among them.

    Raises what `work` raises, once no thread works any more.
    """
    n_thread = min(thread_count()[0], len(parts))
    turns = itertools.count()

    def share() -> None:
        for turn in turns:
            if turn >= len(parts):
                break
            work(parts[turn])

    others = [_executor().submit(share) for _ in range(n_thread - 1)]
    try:
        share()
    finally:
        # who has not begun is not needed any more: waiting for him could last for ever where work shares work
        begun = [other for other in others if not other.cancel()]
        concurrent.futures.wait(begun)
    for other in begun:
        other.result()


def _executor() -> concurrent.futures.ThreadPoolExecutor:
    if not _executors:
        _executors.append(concurrent.futures.ThreadPoolExecutor(thread_count()[0], "cvzoo-numpy"))
    return _executors[0]
