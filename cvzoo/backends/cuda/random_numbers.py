"""Random arrays drawn on a GPU, from the seed of `cvzoo.set_seed`, also inside captured graphs.

Draws depend on the seed and on the number of earlier draws, not on the GPU; the CPU draws other numbers. An eager
draw gets its position in the sequence from the host. A captured graph has relative positions, to which it adds the base
that `Recording.before_replay` writes: replays continue the sequence, with the bits of eager draws.
"""

import contextlib
import math
import threading
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.gpu_kernels import KernelModule, blocks
from cvzoo.config.randomness import get_random_state, reserve_device_blocks, set_device_state
from cvzoo.errors.exceptions import DtypeError, GraphError
from cvzoo.typing.aliases import Array

__all__ = ["random_mask", "standard_normal"]

_KERNELS = KernelModule("philox")
_THREADS = 256
_SUFFIXES = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16"}
Shape = int | Sequence[int]


class Recording:
    """The random numbers of a graph that is being captured.

    base: (1,) uint64 on the device, which the graph's draws add to their positions
    drawn: number of blocks of random numbers that one run of the graph consumes
    """

    def __init__(self) -> None:
        self.base = cupy().zeros(1, np.uint64)
        self.drawn = 0
        self.key, self.start = reserve_device_blocks(0)

    def reserve(self, count: int) -> tuple[int, int, Array | None]:
        # the thread's counter may go back: gradient checkpointing draws again what it drew in the forward pass
        key, first = reserve_device_blocks(count)
        if key != self.key or first < self.start:
            raise GraphError("the seed was set while a graph was captured", hint="set_seed before")
        self.drawn = max(self.drawn, first + count - self.start)
        return key, first - self.start, self.base

    def before_replay(self) -> None:
        """Reserve new random numbers for the next replay, on the current stream, without synchronization.

        Raises GraphError if the seed was set since the capture.
        """
        if not self.drawn:
            return
        key, first = reserve_device_blocks(self.drawn)
        if key != self.key:
            raise GraphError("the seed was set after the graph was captured", hint="capture it again")
        _KERNELS.launch("philox_set", (1, 1, 1), (1, 1, 1), (self.base, np.uint64(first)))


class _Current(threading.local):
    recording: Recording | None = None


_current = _Current()


@contextlib.contextmanager
def recording() -> Iterator[Recording]:
    """A context whose draws belong to a graph; entered before the capture begins, since it allocates.

    >>> with recording() as draws: ...  # capture
    >>> draws.before_replay(); graph.launch()
    """
    before, _current.recording = _current.recording, Recording()
    state = get_random_state()
    try:
        yield _current.recording
    finally:
        _current.recording = before
        set_device_state(state)


def uniform(shape: Shape, dtype: npt.DTypeLike = "float32") -> Array:
    """Uniform in [0, 1), of that shape; float32 (24 random bits) or float64 (53)."""
    name = np.dtype(dtype).name
    if name not in ("float32", "float64"):
        raise DtypeError("uniform random numbers cannot be of this dtype", expected="float32 or float64", got=name)
    return _draw("uniform", shape, dtype)


def standard_normal(shape: Shape, dtype: npt.DTypeLike = "float32", *, rounded: bool = False) -> Array:
    """See `AbstractBackend.standard_normal`; any floating dtype, always drawn in its own precision."""
    return _draw("normal", shape, dtype)


def random_mask(shape: Sequence[int], ratio: float, scale: float, dtype: npt.DTypeLike = "float32") -> Array:
    """See `AbstractBackend.random_mask`; any floating dtype."""
    return _draw("kept", shape, dtype, (np.float32(ratio), np.float64(scale)))


def _draw(kind: str, shape: Shape, like: npt.DTypeLike, parameters: tuple[np.generic, ...] = ()) -> Array:
    dtype = np.dtype(like)
    suffix = _SUFFIXES.get(dtype.name)
    if suffix is None:
        raise DtypeError("random numbers cannot be of this dtype", expected=", ".join(_SUFFIXES), got=dtype.name)
    out = cupy().empty(shape, dtype)
    n = math.prod(out.shape)
    if n:
        count = -(-n // (2 if suffix == "f64" else 4))
        key, first, base = _reserve(count)
        args = (out, np.int64(n), np.uint64(key), np.uint64(first), base, *parameters)
        _KERNELS.launch(f"philox_{kind}_{suffix}", blocks(count, _THREADS), (_THREADS, 1, 1), args)
    return out


def _reserve(count: int) -> tuple[int, int, Array | None]:
    if _current.recording is not None:
        return _current.recording.reserve(count)
    return (*reserve_device_blocks(count), None)
