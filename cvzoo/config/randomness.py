"""Random generators of initializers, dropout and other random functions: one per thread, seeded for reproducibility.

GPUs have a counter-based generator, Philox4x32-10. Its state, kept here per thread, is a key derived from the same
seed and the number of blocks drawn, which are known without device synchronization.
"""

import contextlib
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

_DEFAULT_SEED = 0


class _Held(threading.local):
    def __init__(self) -> None:
        self.start(_DEFAULT_SEED)

    def start(self, seed: int) -> None:
        sequence = np.random.SeedSequence(seed)
        self.generator = np.random.Generator(np.random.PCG64(sequence))
        self.device_key = int(sequence.spawn(1)[0].generate_state(1, np.uint64)[0])
        self.device_drawn = 0


_held = _Held()


def random_generator() -> np.random.Generator:
    """The generator of this thread's initializers and random functions."""
    return _held.generator


def set_seed(seed: int) -> None:
    """Seed this thread's generators. The default seed of a thread is 0.

    For the same seed, numbers on the CPU and on GPUs differ, while those of all GPUs are the same.
    """
    _held.start(seed)


def reserve_device_blocks(count: int) -> tuple[int, int]:
    """(key, first): reserves `count` blocks of a GPU's random numbers, from block `first` on, for the caller."""
    first = _held.device_drawn
    _held.device_drawn = first + count
    return _held.device_key, first


def get_random_state() -> dict:
    """The generators' state as plain numbers and strings, for `set_random_state`."""
    device = {"key": _held.device_key, "drawn": _held.device_drawn}
    return {**_held.generator.bit_generator.state, "device": device}


def set_random_state(state: Mapping[str, Any]) -> None:
    """Restore a state of `get_random_state`; a state of NumPy's PCG64 leaves the GPUs' generator unchanged."""
    _held.generator.bit_generator.state = {name: value for name, value in state.items() if name != "device"}
    if "device" in state:
        set_device_state(state)


def set_device_state(state: Mapping[str, Any]) -> None:
    """Restore the GPUs' part of a state of `get_random_state`."""
    _held.device_key = int(state["device"]["key"])
    _held.device_drawn = int(state["device"]["drawn"])


@contextlib.contextmanager
def using_random_state(state: Mapping[str, Any]) -> Iterator[None]:
    """A block with generators of that state; the previous state is restored afterwards."""
    before = get_random_state()
    set_random_state(state)
    try:
        yield
    finally:
        set_random_state(before)
