"""Wraps a list, an array or any other sequence as a sliceable data set."""

from collections.abc import Callable, Sequence
from typing import Any

from cvzoo.config.randomness import get_random_state, using_random_state
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.typing.protocols import IndexableDataset


def as_sliceable(dataset: IndexableDataset[Any]) -> AbstractSliceableDataset:
    """The data set itself if it is sliceable, otherwise a SequenceDataset of it."""
    return dataset if isinstance(dataset, AbstractSliceableDataset) else SequenceDataset(dataset)


class SequenceDataset(AbstractSliceableDataset):
    """A sliceable view of any object with `len(sequence)` and `sequence[index]`.

    keys: the names of the values, a str if examples are single values; None: "value", or "value_0", "value_1" ... if
        the first example is a tuple
    Each access reads a whole example, whichever keys are requested.
    """

    def __init__(self, sequence: IndexableDataset[Any], keys: str | Sequence[str] | None = None) -> None:
        self._sequence = sequence
        self._keys = keys if keys is None or isinstance(keys, str) else tuple(keys)

    def __len__(self) -> int:
        return len(self._sequence)

    @property
    def keys(self) -> str | tuple[str, ...]:
        if self._keys is None:
            self._keys = peek_keys(lambda: self._sequence[0]) if len(self._sequence) else ()
        return self._keys

    def get_example_by_keys(self, index: int, key_indices: Sequence[int]) -> tuple[Any, ...]:
        example = self._sequence[index]
        if isinstance(self.keys, str):
            return tuple(example for _ in key_indices)
        return tuple(example[k] for k in key_indices)


def peek_keys(read: Callable[[], object]) -> str | tuple[str, ...]:
    """Default names of an example's values: "value", or "value_0", "value_1" ... for a tuple.

    read: returns the example; the state of the random generator is restored after it, so that later random transforms
        do not depend on whether the keys were inspected before
    """
    with using_random_state(get_random_state()):
        example = read()
    return tuple(f"value_{k}" for k in range(len(example))) if isinstance(example, tuple) else "value"
