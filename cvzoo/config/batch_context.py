"""The batch and the epoch that a data set's example is read for."""

import contextlib
import threading
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cvzoo.config.randomness import random_generator


class BatchContext(NamedTuple):
    """The data shared by the examples of a batch.

    seed: of the iterator
    epoch, position: where the batch begins: completed epochs, and examples of the current one before it
    """

    seed: int
    epoch: int
    position: int


class _Held(threading.local):
    context: BatchContext | None = None
    epoch = 0


_held = _Held()


@contextlib.contextmanager
def using_batch(context: BatchContext, epoch: int) -> Iterator[None]:
    """A block in which an iterator reads an example of this epoch for this batch."""
    before = _held.context, _held.epoch
    _held.context, _held.epoch = context, epoch
    try:
        yield
    finally:
        _held.context, _held.epoch = before


def batch_generator() -> np.random.Generator:
    """A random generator with the same initial state for all examples of a batch, in every worker and after a resume.

    Each call returns a new one, for transforms that must agree within a batch, such as the size of multi-scale
    training. Where no iterator reads the example, it is `random_generator()`.
    """
    context = _held.context
    if context is None:
        return random_generator()
    # four numbers: an epoch's order has one or three, an example two
    sequence = np.random.SeedSequence(context.seed, spawn_key=(context.epoch, context.position, 0, 0))
    return np.random.Generator(np.random.PCG64(sequence))


def is_in_batch() -> bool:
    """Whether an iterator reads the example for a batch."""
    return _held.context is not None


def example_epoch() -> int:
    """The number of completed epochs when an iterator reads the example; 0 where no iterator reads it."""
    return _held.epoch
