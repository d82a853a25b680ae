"""A list, an array or any other sequence as a sliceable data set."""

from cvzoo.config.randomness import get_random_state, using_random_state
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset


def as_sliceable(dataset):
    """The data set itself if it is sliceable, else a SequenceDataset of it."""
    return dataset if isinstance(dataset, AbstractSliceableDataset) else SequenceDataset(dataset)


class SequenceDataset(AbstractSliceableDataset):
    """A view of anything with a length and numbered examples.

    keys: the names of the values: a str if examples are no tuples; by default what the first example looks like says:
        "value", or "value_0", "value_1" ...
    Each access reads a whole example: a plain sequence cannot read a part of one.
    """

    def __init__(self, sequence, keys=None):
        self._sequence = sequence
        self._keys = keys if keys is None or isinstance(keys, str) else tuple(keys)

    def __len__(self):
        return len(self._sequence)

    @property
    def keys(self):
        if self._keys is None:
            self._keys = peek_keys(lambda: self._sequence[0]) if len(self._sequence) else ()
        return self._keys

    def get_example_by_keys(self, index, key_indices):
        example = self._sequence[index]
        if isinstance(self.keys, str):
            return tuple(example for _ in key_indices)
        return tuple(example[k] for k in key_indices)


def peek_keys(read):
    """Names for the values of an example whose data set has none: "value", or "value_0" and so on for a tuple.

    read: gives the example; what it draws at random leaves no trace, so that the examples that follow do not depend on
        which of them was first asked for
    """
    with using_random_state(get_random_state()):
        example = read()
    return tuple(f"value_{k}" for k in range(len(example))) if isinstance(example, tuple) else "value"
