"""A rank's part of a data set, padded to the length of the others."""

from collections.abc import Sequence
from typing import Any

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.sub_dataset import SubDataset


class ScatteredDataset(AbstractSliceableDataset):
    """A rank's examples, then the last of them repeated up to `length`; made by `scatter_dataset`.

    n_own: number of examples without padding; 0 of them cannot be padded
    """

    def __init__(self, own: SubDataset, length: int):
        self._dataset = own
        self.n_own = len(own)
        self._length = length if self.n_own else 0

    def __len__(self) -> int:
        return self._length

    @property
    def keys(self) -> str | tuple[str, ...]:
        return self._dataset.keys

    def get_example_by_keys(self, index: int, key_indices: Sequence[int]) -> tuple[Any, ...]:
        return self._dataset.get_example_by_keys(min(index, self.n_own - 1), key_indices)

    def name(self, index: int) -> str:
        return self._dataset.name(min(index, self.n_own - 1))
