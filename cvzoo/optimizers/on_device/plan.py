"""Parameters of one GPU that are updated together: one launch per group, whatever their number."""

from collections.abc import Sequence

import numpy as np

from cvzoo.backends.device import device_of
from cvzoo.backends.gpu_kernels import KernelModule, gpu_arrays
from cvzoo.optimizers.entry import Entry, fits, grouped, prepare_state
from cvzoo.optimizers.on_device.formula import Shapes
from cvzoo.optimizers.on_device.kernels import Table
from cvzoo.typing.aliases import Array

NUMBERS = 64  # the most scalars per group that change from step to step
NORMS = 8  # the most hooks that need the norm of all gradients


class DeviceGroup:
    """Entries of one key.

    first: the index of the first entry's gradient among the plan's
    kernels: compiled kernels by formula; None: the formula cannot be traced
    """

    def __init__(self, entries: Sequence[Entry], first: int):
        rule = entries[0].rule
        self.entries = list(entries)
        self.rule = rule
        self.rules = [entry.rule for entry in entries]
        self.changes = entries[0].changes
        self.exempt = entries[0].exempt
        self.first = first
        for entry in entries:
            prepare_state(entry)
        arrays = [entry.array for entry in entries]
        self.table = Table(arrays, [[entry.rule.state[name] for entry in entries] for name in rule.slots])
        self.shapes = Shapes(np.dtype(arrays[0].dtype), True, len(rule.slots))
        self.kernels: dict[tuple, KernelModule | None] = {}


class DevicePlan:
    """The groups of a list of entries on one GPU; valid as long as the entries stay the same.

    words: the data that change from step to step: NUMBERS float64 for each group, then the addresses of the gradients
    """

    def __init__(self, entries: Sequence[Entry]):
        self.entries = list(entries)
        self.device = device_of(entries[0].array)
        self.groups: list[DeviceGroup] = []
        with self.device:
            first = 0
            for numbers in grouped(entries):
                self.groups.append(DeviceGroup([entries[k] for k in numbers], first))
                first += len(numbers)
            loaded = gpu_arrays()
            self.words = loaded.zeros(NUMBERS * len(self.groups) + first, np.int64)
            self.norms = loaded.zeros(NORMS, np.float64)
            self.partials = loaded.zeros(sum(group.table.n_chunk for group in self.groups), np.float64)

    def fits(self, entries: Sequence[Entry]) -> bool:
        """Whether the plan is valid for the entries."""
        return fits(self.entries, entries)

    def numbers(self, k: int) -> Array:
        """The scalars of group k on the device."""
        return self.words[NUMBERS * k : NUMBERS * (k + 1)]

    def addresses(self, k: int) -> Array:
        """The addresses of the gradients of group k."""
        group = self.groups[k]
        start = NUMBERS * len(self.groups) + group.first
        return self.words[start : start + len(group.entries)]

    def sums(self, k: int) -> Array:
        """The partial sums of group k, one per chunk, a view of those of all groups."""
        start = sum(group.table.n_chunk for group in self.groups[:k])
        return self.partials[start : start + self.groups[k].table.n_chunk]
