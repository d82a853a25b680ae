"""A data set that concatenates others."""

import bisect
import itertools
from collections.abc import Sequence
from typing import Any

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.sequence_dataset import as_sliceable
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.typing.protocols import IndexableDataset


class ConcatenatedDataset(AbstractSliceableDataset):
    """The concatenation of data sets, such as VOC 2007 and 2012.

    Raises ShapeError if their keys differ.
    """

    def __init__(self, *datasets: IndexableDataset[Any]) -> None:
        if not datasets:
            raise ValueRangeError("ConcatenatedDataset needs at least one data set")
        self._datasets = tuple(as_sliceable(dataset) for dataset in datasets)
        filled = [dataset for dataset in self._datasets if len(dataset)] or self._datasets[:1]
        self._keys = filled[0].keys
        for dataset in filled[1:]:
            if dataset.keys != self._keys:
                raise ShapeError(
                    "ConcatenatedDataset: the data sets have different keys",
                    expected=self._keys,
                    got=dataset.keys,
                    hint='dataset.slice[:, ("img", "bbox")] selects the common ones',
                )
        self._ends = tuple(itertools.accumulate(len(dataset) for dataset in self._datasets))

    def __len__(self) -> int:
        return self._ends[-1]

    @property
    def keys(self) -> str | tuple[str, ...]:
        return self._keys

    def get_example_by_keys(self, index: int, key_indices: Sequence[int]) -> tuple[Any, ...]:
        dataset, index = self._find(index)
        return dataset.get_example_by_keys(index, key_indices)

    def name(self, index: int) -> str:
        dataset, index = self._find(index)
        return dataset.name(index)

    def _find(self, index: int) -> tuple[AbstractSliceableDataset, int]:
        part = bisect.bisect_right(self._ends, index)
        return self._datasets[part], index - (self._ends[part - 1] if part else 0)
