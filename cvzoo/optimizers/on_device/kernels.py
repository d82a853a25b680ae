"""Compiled kernels: generated from formulas, and the fixed ones."""

from collections.abc import Sequence

import numpy as np

from cvzoo.backends.arrays import device_address
from cvzoo.backends.gpu_kernels import KernelModule, gpu_arrays
from cvzoo.optimizers.on_device.functions_text import FUNCTIONS
from cvzoo.optimizers.on_device.kernel_text import CHUNK, THREADS
from cvzoo.typing.aliases import Array

FIXED = KernelModule("optimizer")
_WORDS = 440  # words of 8 bytes per launch, within the limit of 4 KiB of kernel arguments
_WORDS_TYPE = np.dtype([("at", np.int64, (_WORDS,))])
_written: dict[str, KernelModule] = {}


def kernel_of(text: str) -> KernelModule:
    """The kernels of a source text; equal texts are compiled once."""
    kernel = _written.get(text)
    if kernel is None:
        kernel = _written[text] = KernelModule.from_source("an optimizer", FUNCTIONS + text)
    return kernel


def write_words(values: np.ndarray, out: Array) -> None:
    """Write int64 values (N,) to the device's array `out` (N or more,).

    They are passed as kernel arguments instead of by a copy: no synchronization, and a captured graph stores them.
    """
    for start in range(0, len(values), _WORDS):
        part = values[start : start + _WORDS]
        words = np.zeros(1, _WORDS_TYPE)
        words["at"][0, : len(part)] = part
        target = out[start:] if start else out
        grid = (-(-len(part) // THREADS), 1, 1)
        FIXED.launch("write_words", grid, (THREADS, 1, 1), (words, target, np.int32(len(part))))


class Table:
    """Arrays of one dtype on one device with their slots, cut into chunks, one per thread block.

    arrays: of any shape, not empty; those that are not C-contiguous are copied before and after an update
    slots: for each kind of slot, C-contiguous arrays of the same sizes
    """

    def __init__(self, arrays: Sequence[Array], slots: Sequence[Sequence[Array]]):
        loaded = gpu_arrays()
        self.flat = [array if array.flags.c_contiguous else loaded.empty(array.shape, array.dtype) for array in arrays]
        self.copied = [(array, flat) for array, flat in zip(arrays, self.flat) if array is not flat]
        self.slots = [list(slot) for slot in slots]
        columns = [[device_address(array) for array in column] for column in (self.flat, *self.slots)]
        sizes = [array.size for array in arrays]
        self.n = len(arrays)
        self.addresses = loaded.asarray(np.array([*columns, sizes], np.int64))
        counts = [-(-size // CHUNK) for size in sizes]
        self.n_chunk = sum(counts)
        chunks = [(owner, k * CHUNK) for owner, count in enumerate(counts) for k in range(count)]
        self.chunks = loaded.asarray(np.array(chunks, np.int64).reshape(-1, 2))
        self.spans = loaded.asarray(np.cumsum([0, *counts], dtype=np.int64))
        self.ratios = loaded.ones(self.n, np.float64)
        self.partials = loaded.zeros(2 * self.n_chunk, np.float64)

    def load(self) -> None:
        """Copy the values of arrays that are not C-contiguous into contiguous ones."""
        for array, flat in self.copied:
            flat[...] = array

    def store(self) -> None:
        """Copy the updated values back."""
        for array, flat in self.copied:
            array[...] = flat

    def over_chunks(
        self,
        kernel: KernelModule,
        numbers: Array,
        *,
        gradients: Array | None = None,
        loss_scale: Array | None = None,
        norms: Array | None = None,
        partials: Array | None = None,
        non_finite: Array | None = None,
    ) -> None:
        """Launch the kernel of `update_text`."""
        partials = self.partials if partials is None else partials
        pointers = (numbers, loss_scale, norms, self.ratios, partials, non_finite)
        args = (self.addresses, gradients, self.chunks, np.int32(self.n), *pointers)
        kernel.launch("over_chunks", (self.n_chunk, 1, 1), (THREADS, 1, 1), args)

    def of_entries(self, kernel: KernelModule, numbers: Array) -> None:
        """Launch the kernel of `ratio_text`."""
        args = (self.spans, np.int64(self.n_chunk), self.partials, numbers, self.ratios)
        kernel.launch("of_entries", (self.n, 1, 1), (THREADS, 1, 1), args)
