"""Pairs of examples, for siamese networks and mixup."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.config.randomness import random_generator
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.sliceable.sequence_dataset import as_sliceable
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array, Label
from cvzoo.typing.protocols import IndexableDataset


class SiameseDataset(GetterDataset):
    """Random pairs of examples, one of each data set: img_0, label_0, img_1, label_1.

    dataset_0, dataset_1: data sets of (img, label); they may be the same
    pos_ratio: the fraction of pairs with equal labels; None: both are drawn independently of their labels
    length: the length of this data set; None: that of dataset_0
    labels_0, labels_1: (N,) int, the labels, if known; otherwise they are read (from sliceable data sets without the
        images)

    Each access draws a new pair from `cvzoo.config`'s generator, which iterators seed for every example: the same seed,
    epoch and index give the same pair.
    Raises ValueRangeError if there are no pairs as pos_ratio demands.
    """

    def __init__(
        self,
        dataset_0: IndexableDataset[Any],
        dataset_1: IndexableDataset[Any],
        pos_ratio: float | None = None,
        length: int | None = None,
        labels_0: Sequence[int] | Label | None = None,
        labels_1: Sequence[int] | Label | None = None,
    ) -> None:
        super().__init__()
        self._datasets = as_sliceable(dataset_0), as_sliceable(dataset_1)
        self._length = len(dataset_0) if length is None else length
        self._pos_ratio = pos_ratio
        if not len(dataset_0) or not len(dataset_1):
            raise ValueRangeError("SiameseDataset: a data set is empty")
        if pos_ratio is not None:
            if not 0 <= pos_ratio <= 1:
                raise ValueRangeError("SiameseDataset: pos_ratio is out of range", expected="0 .. 1", got=pos_ratio)
            if dataset_0 is dataset_1:
                labels_0 = labels_1 if labels_0 is None else labels_0
            labels_0 = _labels(self._datasets[0], labels_0)
            if dataset_0 is dataset_1 and labels_1 is None:
                labels_1 = labels_0
            labels_1 = _labels(self._datasets[1], labels_1)
            self._rows = _rows_by_label(labels_0), _rows_by_label(labels_1)
            first, second = self._rows
            self._positive = [label for label in first if label in second]
            self._negative = [label for label in first if len(second) > (label in second)]
            if pos_ratio > 0 and not self._positive:
                raise ValueRangeError(
                    "SiameseDataset: the data sets have no class in common", hint="pos_ratio=None or 0"
                )
            if pos_ratio < 1 and not self._negative:
                raise ValueRangeError("SiameseDataset: there is only one class", hint="pos_ratio=None or 1")
        self.add_getter(("img_0", "label_0", "img_1", "label_1"), self._get_pair)

    def __len__(self) -> int:
        return self._length

    def _get_pair(self, i: int) -> tuple[Array, ...]:
        first, second = self._draw(random_generator())
        return (*self._datasets[0][first], *self._datasets[1][second])

    def _draw(self, rng: np.random.Generator) -> tuple[int, int]:
        if self._pos_ratio is None:
            return int(rng.integers(len(self._datasets[0]))), int(rng.integers(len(self._datasets[1])))
        if rng.random() < self._pos_ratio:
            label_0 = label_1 = _choice(rng, self._positive)
        else:
            label_0 = _choice(rng, self._negative)
            label_1 = _choice(rng, [label for label in self._rows[1] if label != label_0])
        return _choice(rng, self._rows[0][label_0]), _choice(rng, self._rows[1][label_1])


def _choice(rng: np.random.Generator, values: Sequence[int] | Array) -> int:
    return values[int(rng.integers(len(values)))]


def _labels(dataset: AbstractSliceableDataset, labels: Sequence[int] | Label | None) -> Label:
    if labels is None:
        labels = list(dataset.slice[:, 1])
    labels = np.asarray(labels)
    if labels.shape != (len(dataset),) or labels.dtype.kind not in "iu":
        raise ShapeError("SiameseDataset: labels must be one integer per example", got=(labels.shape, labels.dtype))
    return labels


def _rows_by_label(labels: Label) -> dict[int, Array]:
    return {int(label): np.flatnonzero(labels == label) for label in np.unique(labels)}
