"""Pairs of examples, for learning from likeness."""

import numpy as np

from cvzoo.config.randomness import random_generator
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.sliceable.sequence_dataset import as_sliceable
from cvzoo.errors.exceptions import ShapeError, ValueRangeError


class SiameseDataset(GetterDataset):
    """Two labelled examples at random, one of each data set: img_0, label_0, img_1, label_1.

    dataset_0, dataset_1: data sets of (img, label); they may be the same
    pos_ratio: the share of pairs of one class; None: both are drawn without a look at their labels
    length: how many examples this data set is said to have; None: as many as dataset_0
    labels_0, labels_1: (N,) int, the labels, if they are known; else they are read (of sliceable data sets without
        their photos)

    Each access draws anew, from `cvzoo.config`'s generator, which iterators set for every example: the same seed,
    epoch and index give the same pair.
    Raises ValueRangeError if pairs of the wished kind cannot be had.
    """

    def __init__(self, dataset_0, dataset_1, pos_ratio=None, length=None, labels_0=None, labels_1=None):
        super().__init__()
        self._datasets = as_sliceable(dataset_0), as_sliceable(dataset_1)
        self._length = len(dataset_0) if length is None else length
        self._pos_ratio = pos_ratio
        if not len(dataset_0) or not len(dataset_1):
            raise ValueRangeError("SiameseDataset: a data set is empty")
        if pos_ratio is not None:
            if not 0 <= pos_ratio <= 1:
                raise ValueRangeError("SiameseDataset: pos_ratio is a share", expected="0 .. 1", got=pos_ratio)
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
                raise ValueRangeError("SiameseDataset: no class is in both data sets", hint="pos_ratio=None or 0")
            if pos_ratio < 1 and not self._negative:
                raise ValueRangeError("SiameseDataset: there is one class only", hint="pos_ratio=None or 1")
        self.add_getter(("img_0", "label_0", "img_1", "label_1"), self._get_pair)

    def __len__(self):
        return self._length

    def _get_pair(self, i):
        first, second = self._draw(random_generator())
        return (*self._datasets[0][first], *self._datasets[1][second])

    def _draw(self, rng):
        if self._pos_ratio is None:
            return rng.integers(len(self._datasets[0])), rng.integers(len(self._datasets[1]))
        if rng.random() < self._pos_ratio:
            label_0 = label_1 = _choice(rng, self._positive)
        else:
            label_0 = _choice(rng, self._negative)
            label_1 = _choice(rng, [label for label in self._rows[1] if label != label_0])
        return _choice(rng, self._rows[0][label_0]), _choice(rng, self._rows[1][label_1])


def _choice(rng, values):
    return values[int(rng.integers(len(values)))]


def _labels(dataset, labels):
    if labels is None:
        labels = list(dataset.slice[:, 1])
    labels = np.asarray(labels)
    if labels.shape != (len(dataset),) or labels.dtype.kind not in "iu":
        raise ShapeError("SiameseDataset: labels must be an integer an example", got=(labels.shape, labels.dtype))
    return labels


def _rows_by_label(labels):
    return {int(label): np.flatnonzero(labels == label) for label in np.unique(labels)}
