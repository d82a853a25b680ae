"""NumPy work in several threads: NumPy releases the interpreter lock while it computes."""

import concurrent.futures
import itertools
import os
from collections.abc import Callable, Sequence
from typing import TypeVar

from cvzoo.backends.threads import thread_count

T = TypeVar("T")
_executors: list[concurrent.futures.ThreadPoolExecutor] = []
os.register_at_fork(after_in_child=_executors.clear)  # a forked child has none of its parent's threads


def in_threads(parts: Sequence[T], work: Callable[[T], object]) -> None:
    """Call `work` with each of the parts, in any order, in as many threads as kernels may use, including this one.

    Raises the error of `work` after all threads have finished.
    """
    n_thread = min(thread_count()[0], len(parts))
    turns = itertools.count()  # next() of it is atomic: each part is taken by one thread

    def run() -> None:
        for turn in turns:
            if turn >= len(parts):
                break
            work(parts[turn])

    tasks = [_executor().submit(run) for _ in range(n_thread - 1)]
    try:
        run()
    finally:
        # tasks that have not begun are canceled: with nested calls, waiting for them could be a deadlock
        begun = [task for task in tasks if not task.cancel()]
        concurrent.futures.wait(begun)
    for task in begun:
        task.result()


def _executor() -> concurrent.futures.ThreadPoolExecutor:
    if not _executors:
        _executors.append(concurrent.futures.ThreadPoolExecutor(thread_count()[0], "cvzoo-numpy"))
    return _executors[0]
