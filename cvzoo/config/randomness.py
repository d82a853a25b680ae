"""The random numbers of initializers and dropout: one generator a thread, seeded, so that a run can be repeated."""

import contextlib
import threading
from collections.abc import Iterator

import numpy as np

_DEFAULT_SEED = 0


class _Held(threading.local):
    def __init__(self) -> None:
        self.generator = np.random.Generator(np.random.PCG64(_DEFAULT_SEED))


_held = _Held()


def random_generator() -> np.random.Generator:
    """The generator that this thread's initializers and random functions draw from."""
    return _held.generator


def set_seed(seed: int) -> None:
    """Start this thread's generator anew. Without it a thread starts from seed 0."""
    _held.generator = np.random.Generator(np.random.PCG64(seed))


def get_random_state() -> dict:
    """The generator's state as plain numbers and strings, to be stored and given to `set_random_state`."""
    return _held.generator.bit_generator.state


def set_random_state(state: dict) -> None:
    """Continue from a state that `get_random_state` gave."""
    _held.generator.bit_generator.state = state


@contextlib.contextmanager
def using_random_state(state: dict) -> Iterator[None]:
    """Draw from `state` inside the block; afterwards go on as if the block had drawn nothing."""
    before = get_random_state()
    set_random_state(state)
    try:
        yield
    finally:
        set_random_state(before)
