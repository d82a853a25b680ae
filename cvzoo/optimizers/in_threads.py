"""Work on blocks in several threads: NumPy releases the interpreter lock while it computes."""

import concurrent.futures
import itertools
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from cvzoo.backends.threads import thread_count
from cvzoo.optimizers.blocks import Block

T = TypeVar("T")

WORTHWHILE = 1 << 18  # elements; for fewer, waking threads costs more than it saves
N_SCRATCH = 4  # arrays of a block's length that an update rule may use

_executors: list[concurrent.futures.ThreadPoolExecutor] = []
_local = threading.local()
os.register_at_fork(after_in_child=_executors.clear)  # a forked child has none of its parent's threads


def for_each_block(blocks: Sequence[Block], work: Callable[[Block, Sequence[np.ndarray]], T]) -> list[T]:
    """The results of `work(block, scratch)` for each block, in order; they do not depend on the assignment to threads.

    scratch: four arrays (n,) of the block's dtype
    """
    results: list[T | Any] = [None] * len(blocks)  # Any stands for None, until each block is done
    turns = itertools.count()

    def run() -> None:
        # no floating-point warnings here: overflow and NaN are detected by the check of gradients
        with np.errstate(all="ignore"):
            for turn in turns:  # a shared iterator: `next` of itertools.count is atomic, so no lock is needed
                if turn >= len(blocks):
                    break
                block = blocks[turn]
                results[turn] = work(block, _scratch(block))

    n_thread = min(thread_count()[0], len(blocks))
    if n_thread > 1 and sum([block.n for block in blocks]) >= WORTHWHILE:
        others = [_executor().submit(run) for _ in range(n_thread - 1)]
        run()  # in this thread, too
        for other in others:
            other.result()
    else:
        run()
    return results


def _scratch(block: Block) -> list[np.ndarray]:
    by_dtype = _local.__dict__.setdefault("kept", {})
    dtype = block.p.dtype
    rows = by_dtype.get(dtype)
    if rows is None or rows[0].size < block.n:
        rows = by_dtype[dtype] = [np.empty(block.n, dtype) for _ in range(N_SCRATCH)]
    n = block.n
    return [row[:n] for row in rows]


def _executor() -> concurrent.futures.ThreadPoolExecutor:
    if not _executors:
        _executors.append(concurrent.futures.ThreadPoolExecutor(thread_count()[0], "cvzoo-optimizer"))
    return _executors[0]
