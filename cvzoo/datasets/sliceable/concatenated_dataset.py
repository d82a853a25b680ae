"""Several data sets one after another."""

import bisect
import itertools

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.sequence_dataset import as_sliceable
from cvzoo.errors.exceptions import ShapeError, ValueRangeError


class ConcatenatedDataset(AbstractSliceableDataset):
    """The examples of the first data set, then those of the second and so on, as VOC 2007 and 2012 together.

    Raises ShapeError if their keys differ.
    """

    def __init__(self, *datasets):
        if not datasets:
            raise ValueRangeError("ConcatenatedDataset: no data set is given")
        self._datasets = tuple(as_sliceable(dataset) for dataset in datasets)
        filled = [dataset for dataset in self._datasets if len(dataset)] or self._datasets[:1]
        self._keys = filled[0].keys
        for dataset in filled[1:]:
            if dataset.keys != self._keys:
                raise ShapeError(
                    "ConcatenatedDataset: the data sets have different keys",
                    expected=self._keys,
                    got=dataset.keys,
                    hint='dataset.slice[:, ("img", "bbox")] leaves the common ones',
                )
        self._ends = tuple(itertools.accumulate(len(dataset) for dataset in self._datasets))

    def __len__(self):
        return self._ends[-1]

    @property
    def keys(self):
        return self._keys

    def get_example_by_keys(self, index, key_indices):
        dataset, index = self._find(index)
        return dataset.get_example_by_keys(index, key_indices)

    def name(self, index):
        dataset, index = self._find(index)
        return dataset.name(index)

    def _find(self, index):
        number = bisect.bisect_right(self._ends, index)
        return self._datasets[number], index - (self._ends[number - 1] if number else 0)
