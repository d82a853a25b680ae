"""Several data sets side by side."""

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.sequence_dataset import SequenceDataset
from cvzoo.errors.exceptions import ShapeError, ValueRangeError


class TupleDataset(AbstractSliceableDataset):
    """Example i holds the values of example i of every part: `TupleDataset(photos, ("label", labels))`.

    Each part is a sliceable data set, which brings its keys; a pair (name, sequence); or a plain sequence, which is
    called "value_0" if it is the first part, and so on.
    Raises ShapeError if the parts have different lengths, ValueRangeError if a key comes twice or there is no part.
    """

    def __init__(self, *datasets):
        if not datasets:
            raise ValueRangeError("TupleDataset: no data set is given")
        self._datasets = tuple(_part(number, dataset) for number, dataset in enumerate(datasets))
        lengths = [len(dataset) for dataset in self._datasets]
        if len(set(lengths)) > 1:
            raise ShapeError("TupleDataset: the parts have different lengths", got=lengths)
        self._keys, self._sources = (), []
        for number, dataset in enumerate(self._datasets):
            names = (dataset.keys,) if isinstance(dataset.keys, str) else dataset.keys
            self._keys += tuple(names)
            self._sources += [(number, k) for k in range(len(names))]
        if len(set(self._keys)) < len(self._keys):
            raise ValueRangeError("TupleDataset: a key comes twice", got=self._keys)

    def __len__(self):
        return len(self._datasets[0])

    @property
    def keys(self):
        return self._keys

    def get_example_by_keys(self, index, key_indices):
        wanted = {}
        for k in key_indices:
            number, inner = self._sources[k]
            wanted.setdefault(number, []).append(inner)
        values = {}
        for number, inner in wanted.items():
            found = self._datasets[number].get_example_by_keys(index, tuple(inner))
            values.update(((number, k), value) for k, value in zip(inner, found))
        return tuple(values[self._sources[k]] for k in key_indices)

    def name(self, index):
        return self._datasets[0].name(index)


def _part(number, dataset):
    if isinstance(dataset, AbstractSliceableDataset):
        return dataset
    if isinstance(dataset, tuple) and len(dataset) == 2 and isinstance(dataset[0], str):
        return SequenceDataset(dataset[1], dataset[0])
    return SequenceDataset(dataset, f"value_{number}")
