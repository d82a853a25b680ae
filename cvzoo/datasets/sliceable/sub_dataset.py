"""A contiguous part of a data set, and functions that split data sets."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.config.randomness import random_generator
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.selection import example_indices
from cvzoo.datasets.sliceable.sequence_dataset import as_sliceable
from cvzoo.datasets.sliceable.stratified_parts import stratified_parts
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array, ArrayLike
from cvzoo.typing.protocols import IndexableDataset


class SubDataset(AbstractSliceableDataset):
    """Examples start, start + 1 ... finish - 1 of a data set, in its own order or in `order`.

    order: (len(dataset),) int, a permutation of the examples
    Raises ValueRangeError or ShapeError if the range or the order does not fit the data set.
    """

    def __init__(
        self, dataset: IndexableDataset[Any], start: int, finish: int, order: Sequence[int] | Array | None = None
    ) -> None:
        self._dataset = as_sliceable(dataset)
        n_example = len(self._dataset)
        if not 0 <= start <= finish <= n_example:
            raise ValueRangeError(
                "SubDataset: the range is outside the data set",
                expected=f"within 0 .. {n_example}",
                got=(start, finish),
            )
        if order is None:
            self._indices: Sequence[int] | Array = range(start, finish)
            return
        rows = example_indices(order, n_example)
        if len(rows) != n_example:
            raise ShapeError("SubDataset: the order must contain every example", expected=n_example, got=len(rows))
        self._indices = rows[start:finish]

    def __len__(self) -> int:
        return len(self._indices)

    @property
    def keys(self) -> str | tuple[str, ...]:
        return self._dataset.keys

    def get_example_by_keys(self, index: int, key_indices: Sequence[int]) -> tuple[Any, ...]:
        return self._dataset.get_example_by_keys(int(self._indices[index]), key_indices)

    def name(self, index: int) -> str:
        return self._dataset.name(int(self._indices[index]))


def split_dataset(
    dataset: IndexableDataset[Any], split_at: int, order: Sequence[int] | Array | None = None
) -> tuple[SubDataset, SubDataset]:
    """Two SubDatasets: the first `split_at` examples (in `order`, if given), and the rest."""
    return SubDataset(dataset, 0, split_at, order), SubDataset(dataset, split_at, len(dataset), order)


def split_dataset_random(
    dataset: IndexableDataset[Any], first_size: int, seed: int | None = None
) -> tuple[SubDataset, SubDataset]:
    """Two SubDatasets of random examples: `first_size` of them, and the rest.

    seed: the same seed gives the same split; None draws from cvzoo's generator
    """
    return split_dataset(dataset, first_size, _permutation(len(dataset), seed))


def split_dataset_n(
    dataset: IndexableDataset[Any], n: int, order: Sequence[int] | Array | None = None
) -> list[SubDataset]:
    """A list of n SubDatasets of len(dataset) // n consecutive examples (of `order`, if given); a rest is left out.

    Raises ValueRangeError if n is not positive.
    """
    if n < 1:
        raise ValueRangeError("split_dataset_n: n must be positive", got=n)
    size = len(dataset) // n
    return [SubDataset(dataset, i * size, (i + 1) * size, order) for i in range(n)]


def split_dataset_n_random(dataset: IndexableDataset[Any], n: int, seed: int | None = None) -> list[SubDataset]:
    """A list of n SubDatasets of len(dataset) // n random examples each.

    seed: the same seed gives the same split; None draws from cvzoo's generator
    """
    return split_dataset_n(dataset, n, _permutation(len(dataset), seed))


def split_dataset_stratified(
    dataset: IndexableDataset[Any],
    first_size: int,
    strata: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    seed: int | None = None,
) -> tuple[SubDataset, SubDataset]:
    """A stratified split into two SubDatasets: about `first_size` examples, and the rest, in their original order.

    strata: (N,) int, the class of each example, such as `dataset.slice[:, "label"]`; or (N, K), its number of objects
        of each class
    groups: (N,), examples of one group stay together: frames of one video, images of one patient, near-duplicates.
        Without groups there are exactly `first_size` examples
    seed: the same seed gives the same split; None draws from cvzoo's generator
    Raises ShapeError or ValueRangeError for inconsistent arguments. See `stratified_parts` for the algorithm.
    """
    n_example = len(dataset)
    if not 0 <= first_size <= n_example:
        raise ValueRangeError("first_size is outside the data set", expected=f"0 .. {n_example}", got=first_size)
    part = stratified_parts(
        np.asarray(strata),
        (first_size, n_example - first_size),
        groups=None if groups is None else np.asarray(groups),
        seed=seed,
    )
    if len(part) != n_example:
        raise ShapeError("the strata need one row per example", expected=n_example, got=len(part))
    return split_dataset(dataset, int((part == 0).sum()), np.argsort(part, kind="stable"))


def get_cross_validation_datasets(
    dataset: IndexableDataset[Any], n_fold: int, order: Sequence[int] | Array | None = None
) -> list[tuple[SubDataset, SubDataset]]:
    """A list of n_fold pairs (training part, test part), the test parts of nearly equal size.

    order: (len(dataset),) int, a permutation of the examples; by default their own order
    """
    n_example = len(dataset)
    if not 1 < n_fold <= max(n_example, 2):
        raise ValueRangeError(
            "n_fold must be between 2 and the number of examples", expected=f"2 .. {n_example}", got=n_fold
        )
    rows = np.arange(n_example) if order is None else np.asarray(order)
    edges = [n_example * fold // n_fold for fold in range(n_fold + 1)]
    pairs = []
    for start, stop in itertools.pairwise(edges):
        test_last = np.concatenate([rows[:start], rows[stop:], rows[start:stop]])
        pairs.append(split_dataset(dataset, n_example - (stop - start), test_last))
    return pairs


def get_cross_validation_datasets_random(
    dataset: IndexableDataset[Any], n_fold: int, seed: int | None = None
) -> list[tuple[SubDataset, SubDataset]]:
    """Like `get_cross_validation_datasets`, in a random order; the same seed gives the same folds."""
    return get_cross_validation_datasets(dataset, n_fold, _permutation(len(dataset), seed))


def _permutation(n: int, seed: int | None) -> Array:
    generator = random_generator() if seed is None else np.random.default_rng(seed)
    return generator.permutation(n)
