"""Bytes as a row of choices, for what is fuzzed with arrays and not with files."""

import random
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")


class Choices:
    """Takes choices from bytes, one after another; where they end, the first of what there is."""

    def __init__(self, data: bytes):
        self._data, self._at = data, 0

    def byte(self) -> int:
        """0 .. 255."""
        self._at += 1
        return self._data[self._at - 1] if self._at <= len(self._data) else 0

    def below(self, n: int) -> int:
        """0 .. n - 1."""
        return (self.byte() | self.byte() << 8) % n if n > 256 else self.byte() % n

    def one_of(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[self.below(len(items))]

    def yes(self, share: int = 2) -> bool:
        """Whether, once in `share` times."""
        return self.below(share) == share - 1

    def generator(self) -> np.random.Generator:
        """For the numbers in arrays, which matter less than their layouts."""
        return np.random.default_rng(self.byte())


def random_choices(n_byte: int = 64, n_seed: int = 16) -> Sequence[bytes]:
    """Examples to begin with."""
    rng = random.Random(0)
    return [rng.randbytes(n_byte) for _ in range(n_seed)]
