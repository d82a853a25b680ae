"""Fallback for rules and hooks that cannot be traced: their formulas run on GPU arrays, one parameter at a time."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cvzoo.backends.gpu_kernels import gpu_arrays
from cvzoo.optimizers.entry import Entry
from cvzoo.optimizers.update_rule import AbstractLayerwiseRule, AbstractUpdateRule, Coefficients
from cvzoo.typing.aliases import Array


class PlainUpdate:
    """An update of entries by NumPy functions on GPU arrays.

    changes: each with a function that returns its coefficients, which may synchronize
    numbers: the rule's coefficients
    skipped: (1,) int32, whether the update is skipped, read with a synchronization; or None
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        rule: AbstractUpdateRule,
        changes: Sequence[tuple[Callable[..., None], Callable[[], Coefficients]]],
        numbers: Coefficients,
        hp: dict[str, float],
        exempt: bool,
        skipped: Array | None,
    ):
        self.entries = entries
        self.rule = rule
        self.changes = list(changes)
        self.numbers = numbers
        self.hp = hp
        self.exempt = exempt
        self.skipped = skipped

    def run(self) -> None:
        """Make the update."""
        if self.skipped is not None and int(self.skipped[0]):
            return
        changes = [(change, numbers()) for change, numbers in self.changes]
        for entry in self.entries:
            self._update(entry, changes)

    def _update(self, entry: Entry, changes: Sequence[tuple[Callable[..., None], Coefficients]]) -> None:
        array = entry.array
        flat = array.flags.c_contiguous
        p = array.reshape(-1)
        g = entry.grad.reshape(-1)
        state = tuple([entry.rule.state[name].reshape(-1) for name in entry.rule.slots])
        scratch = [gpu_arrays().empty_like(p) for _ in range(3)]
        for change, numbers in changes:
            change(p, g, scratch[0], scratch[1], _of_dtype(numbers, p.dtype))
            g = scratch[0]
        c = _of_dtype(self.numbers, p.dtype)
        ratio = None
        if isinstance(self.rule, AbstractLayerwiseRule):
            pair = self.rule.measure_block(p, g, state, c, scratch[1:])
            first, second = [np.array([float((x.astype(np.float64) ** 2).sum()) ** 0.5]) for x in pair]
            ratio = p.dtype.type(self.rule.ratio(first, second, self.hp, self.exempt)[0])
        self.rule.update_block(p, g, state, c, scratch[1:], ratio)
        if not flat:
            array[...] = p.reshape(array.shape)


def _of_dtype(numbers: Coefficients, dtype: np.dtype) -> tuple[Array | Any, ...]:  # Any stands for None
    return tuple([None if number is None else dtype.type(number) for number in numbers])
