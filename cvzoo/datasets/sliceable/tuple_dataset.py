"""A data set that zips others."""

from collections.abc import Sequence
from typing import Any

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.sequence_dataset import SequenceDataset
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.typing.protocols import IndexableDataset


class TupleDataset(AbstractSliceableDataset):
    """Zips data sets: example i has the values of example i of every part, as `TupleDataset(imgs, ("label", labels))`.

    Each part is a sliceable data set with its keys; a pair (name, sequence); or a plain sequence, whose key is
    "value_0" if it is the first part, and so on.
    Raises ShapeError if the parts have different lengths, ValueRangeError for duplicate keys or without any part.
    """

    def __init__(self, *datasets: IndexableDataset[Any] | tuple[str, IndexableDataset[Any]]) -> None:
        if not datasets:
            raise ValueRangeError("TupleDataset needs at least one data set")
        self._datasets = tuple(_part(number, dataset) for number, dataset in enumerate(datasets))
        lengths = [len(dataset) for dataset in self._datasets]
        if len(set(lengths)) > 1:
            raise ShapeError("TupleDataset: the parts have different lengths", got=lengths)
        self._keys: tuple[str, ...] = ()
        self._sources: list[tuple[int, int]] = []  # (index of the part, index of the key in it)
        for number, dataset in enumerate(self._datasets):
            names = (dataset.keys,) if isinstance(dataset.keys, str) else dataset.keys
            self._keys += tuple(names)
            self._sources += [(number, k) for k in range(len(names))]
        if len(set(self._keys)) < len(self._keys):
            raise ValueRangeError("TupleDataset: the parts have duplicate keys", got=self._keys)

    def __len__(self) -> int:
        return len(self._datasets[0])

    @property
    def keys(self) -> str | tuple[str, ...]:
        return self._keys

    def get_example_by_keys(self, index: int, key_indices: Sequence[int]) -> tuple[Any, ...]:
        requested: dict[int, list[int]] = {}
        for k in key_indices:
            number, inner = self._sources[k]
            requested.setdefault(number, []).append(inner)
        values: dict[tuple[int, int], Any] = {}
        for number, columns in requested.items():
            part = self._datasets[number].get_example_by_keys(index, tuple(columns))
            values.update(((number, k), value) for k, value in zip(columns, part))
        return tuple(values[self._sources[k]] for k in key_indices)

    def name(self, index: int) -> str:
        return self._datasets[0].name(index)


def _part(number: int, dataset: IndexableDataset[Any] | tuple[str, IndexableDataset[Any]]) -> AbstractSliceableDataset:
    if isinstance(dataset, AbstractSliceableDataset):
        return dataset
    if isinstance(dataset, tuple) and len(dataset) == 2 and isinstance(dataset[0], str):
        return SequenceDataset(dataset[1], dataset[0])
    return SequenceDataset(dataset, f"value_{number}")
