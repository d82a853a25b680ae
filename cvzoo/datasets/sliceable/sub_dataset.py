"""A run of a data set's examples, and ways to split one."""

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


class SubDataset(AbstractSliceableDataset):
    """Examples start, start + 1 ... finish - 1 of a data set, or of its `order`.

    order: (len(dataset),) int, another order of the examples, of which the run is taken
    Raises ValueRangeError or ShapeError if the run or the order does not fit.
    """

    def __init__(self, dataset, start, finish, order=None):
        self._dataset = as_sliceable(dataset)
        n_example = len(self._dataset)
        if not 0 <= start <= finish <= n_example:
            raise ValueRangeError("SubDataset: no such run", expected=f"within 0 .. {n_example}", got=(start, finish))
        if order is not None:
            order = example_indices(order, n_example)
            if len(order) != n_example:
                raise ShapeError("SubDataset: the order needs every example", expected=n_example, got=len(order))
        self._indices = range(start, finish) if order is None else order[start:finish]

    def __len__(self):
        return len(self._indices)

    @property
    def keys(self):
        return self._dataset.keys

    def get_example_by_keys(self, index, key_indices):
        return self._dataset.get_example_by_keys(int(self._indices[index]), key_indices)

    def name(self, index):
        return self._dataset.name(int(self._indices[index]))


def split_dataset(dataset, split_at, order=None):
    """Two SubDatasets: the first `split_at` examples (of the order, if one is given), and the rest."""
    return SubDataset(dataset, 0, split_at, order), SubDataset(dataset, split_at, len(dataset), order)


def split_dataset_random(dataset, first_size, seed=None):
    """Two SubDatasets of random examples: `first_size` of them, and the rest.

    seed: the same seed gives the same split; None draws from cvzoo's generator
    """
    return split_dataset(dataset, first_size, _permutation(len(dataset), seed))


def split_dataset_stratified(
    dataset: Any,
    first_size: int,
    strata: np.ndarray | Sequence[Any],
    *,
    groups: np.ndarray | Sequence[Any] | None = None,
    seed: int | None = None,
) -> tuple[SubDataset, SubDataset]:
    """Two SubDatasets with the same mix of classes: about `first_size` examples, and the rest; each in its old order.

    strata: (N,) int, the class of each example, such as `dataset.slice[:, "label"]`; or (N, K), how many objects of
        each class it holds
    groups: (N,), examples of one group stay together: frames of one video, photos of one patient, near-duplicates.
        Without groups there are exactly `first_size` examples
    seed: the same seed gives the same split; None draws from cvzoo's generator
    Raises ShapeError or ValueRangeError for what does not fit. See `stratified_parts` for how.
    """
    n_example = len(dataset)
    if not 0 <= first_size <= n_example:
        raise ValueRangeError("no such split", expected=f"0 .. {n_example}", got=first_size)
    part = stratified_parts(
        np.asarray(strata),
        (first_size, n_example - first_size),
        groups=None if groups is None else np.asarray(groups),
        seed=seed,
    )
    if len(part) != n_example:
        raise ShapeError("the strata need a row for every example", expected=n_example, got=len(part))
    return split_dataset(dataset, int((part == 0).sum()), np.argsort(part, kind="stable"))


def get_cross_validation_datasets(dataset, n_fold, order=None):
    """A list of n_fold pairs (training part, test part), the test parts as equal in size as can be.

    order: (len(dataset),) int, which examples stand near each other; by default their own order
    """
    n_example = len(dataset)
    if not 1 < n_fold <= max(n_example, 2):
        raise ValueRangeError("n_fold is outside of what makes sense", expected=f"2 .. {n_example}", got=n_fold)
    order = np.arange(n_example) if order is None else np.asarray(order)
    edges = [n_example * fold // n_fold for fold in range(n_fold + 1)]
    pairs = []
    for start, stop in itertools.pairwise(edges):
        turned = np.concatenate([order[:start], order[stop:], order[start:stop]])
        pairs.append(split_dataset(dataset, n_example - (stop - start), turned))
    return pairs


def get_cross_validation_datasets_random(dataset, n_fold, seed=None):
    """As `get_cross_validation_datasets`, in a random order: the same seed gives the same folds."""
    return get_cross_validation_datasets(dataset, n_fold, _permutation(len(dataset), seed))


def _permutation(n, seed):
    generator = random_generator() if seed is None else np.random.default_rng(seed)
    return generator.permutation(n)
