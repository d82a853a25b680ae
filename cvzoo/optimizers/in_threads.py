"""Work on blocks in several threads: NumPy lets other threads run while it is inside a block."""

import concurrent.futures
import itertools
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cvzoo.backends.threads import thread_count
from cvzoo.optimizers.blocks import Block

WORTHWHILE = 1 << 18  # numbers; below, waking threads costs more than they do
N_SCRATCH = 4

_executors: list[concurrent.futures.ThreadPoolExecutor] = []
_local = threading.local()
os.register_at_fork(after_in_child=_executors.clear)  # a child has none of its parent's threads


def for_each_block(blocks: Sequence[Block], work: Callable[[Block, Sequence[np.ndarray]], Any]) -> list[Any]:
    """What `work(block, scratch)` gave for each block, in order; which thread did which makes no difference.

    scratch: four arrays (n,) of the block's dtype
    """
    results: list[Any] = [None] * len(blocks)
    turns = itertools.count()

    def share() -> None:
        # what is not a number is somebody else's to find: here it passes through without a warning a block
        with np.errstate(all="ignore"):
            for turn in turns:
                if turn >= len(blocks):
                    break
                block = blocks[turn]
                results[turn] = work(block, _scratch(block))

    n_thread = min(thread_count()[0], len(blocks))
    if n_thread > 1 and sum([block.n for block in blocks]) >= WORTHWHILE:
        others = [_executor().submit(share) for _ in range(n_thread - 1)]
        share()
        for other in others:
            other.result()
    else:
        share()
    return results


def _scratch(block: Block) -> list[np.ndarray]:
    kept = _local.__dict__.setdefault("kept", {})
    dtype = block.p.dtype
    rows = kept.get(dtype)
    if rows is None or rows[0].size < block.n:
        rows = kept[dtype] = [np.empty(block.n, dtype) for _ in range(N_SCRATCH)]
    n = block.n
    return [row[:n] for row in rows]


def _executor() -> concurrent.futures.ThreadPoolExecutor:
    if not _executors:
        _executors.append(concurrent.futures.ThreadPoolExecutor(thread_count()[0], "cvzoo-optimizer"))
    return _executors[0]
