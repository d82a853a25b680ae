"""The random numbers of initializers and dropout: one generator a thread, seeded, so that a run can be repeated.

GPUs draw by a generator of their own, of which each block of numbers has a place (`backends/philox.py`). Of it a thread
keeps here a key, made of the same seed, and how many blocks were drawn: numbers that no GPU need be asked for.
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
    """The generator that this thread's initializers and random functions draw from."""
    return _held.generator


def set_seed(seed: int) -> None:
    """Start this thread's generators anew. Without it a thread starts from seed 0.

    From one seed a GPU draws different numbers than the CPU; every GPU draws the same.
    """
    _held.start(seed)


def reserve_device_blocks(count: int) -> tuple[int, int]:
    """(key, first) of `count` blocks of a GPU's random numbers, from `first` on, reserved for the caller."""
    first = _held.device_drawn
    _held.device_drawn = first + count
    return _held.device_key, first


def get_random_state() -> dict:
    """The generators' state as plain numbers and strings, to be stored and given to `set_random_state`."""
    device = {"key": _held.device_key, "drawn": _held.device_drawn}
    return {**_held.generator.bit_generator.state, "device": device}


def set_random_state(state: Mapping[str, Any]) -> None:
    """Continue from a state that `get_random_state` gave; one of NumPy's PCG64 leaves the GPUs' generator as it is."""
    _held.generator.bit_generator.state = {name: value for name, value in state.items() if name != "device"}
    if "device" in state:
        set_device_state(state)


def set_device_state(state: Mapping[str, Any]) -> None:
    """Of a state that `get_random_state` gave, continue the GPUs' part alone."""
    _held.device_key = int(state["device"]["key"])
    _held.device_drawn = int(state["device"]["drawn"])


@contextlib.contextmanager
def using_random_state(state: Mapping[str, Any]) -> Iterator[None]:
    """Draw from `state` inside the block; afterwards go on as if the block had drawn nothing."""
    before = get_random_state()
    set_random_state(state)
    try:
        yield
    finally:
        set_random_state(before)
