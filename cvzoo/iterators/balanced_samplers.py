"""Orders of an epoch in which rare classes are read more often, and orders of batches of similar images."""

from collections.abc import Sequence

import numpy as np

from cvzoo.config.randomness import random_generator
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.iterators.order_samplers import OrderSampler, Sampler
from cvzoo.typing.aliases import Array


class ClassBalancedOrderSampler(OrderSampler):
    """An order in which all classes are drawn equally often, each class's examples in turn.

    labels: one element per example: its class, or (R,) those of its objects, as `list(dataset.slice[:, "label"])`;
        examples without objects are a class of their own
    length: the length of an epoch; None: as many as there are examples

    An example of several classes may be drawn for each of them. The counts of the classes differ by at most one.
    Raises ValueRangeError if there are no examples.
    Source: Shen, Lin and Huang, "Relay Backpropagation for Effective Learning of Deep Convolutional Neural Networks",
    2016, section 3.3 (class-aware sampling). Where we differ: counts are equal in every epoch, not in the mean.
    """

    def __init__(self, labels: Sequence[object] | Array, *, length: int | None = None) -> None:
        classes = _classes_of_examples(labels)
        if not classes or (length is not None and length < 1):
            raise ValueRangeError(
                "ClassBalancedOrderSampler needs examples, and a positive length", got=(len(classes), length)
            )
        known = np.unique(np.concatenate([each if len(each) else [-1] for each in classes]))
        self._members = [
            np.array([i for i, each in enumerate(classes) if (label in each if label >= 0 else not len(each))])
            for label in known.tolist()
        ]
        self._n_example = len(classes)
        self._length = self._n_example if length is None else length

    def __call__(self, current_order: Array, current_position: int) -> Array:
        rng = random_generator()
        n_class = len(self._members)
        counts = np.full(n_class, self._length // n_class)
        counts[rng.permutation(n_class)[: self._length % n_class]] += 1
        drawn = []
        for members, count in zip(self._members, counts.tolist()):
            rounds = [rng.permutation(members) for _ in range(-(-count // len(members)))]
            drawn.append(np.concatenate([members[:0], *rounds])[:count])
        return rng.permutation(np.concatenate(drawn))


class RepeatFactorOrderSampler(OrderSampler):
    """An order in which examples with rare classes are repeated, by repeat factors.

    labels: one element per example, (R,) the classes of its objects, as `list(dataset.slice[:, "label"])`, or its class
    thresh: classes that occur in a smaller fraction of the examples than this are repeated

    factors: (N,) float64, how often each example is read in an epoch, in the mean: the largest of its classes'
        max(1, sqrt(thresh / f)), f the fraction of examples with the class; 1 for examples without objects
    The fractional part of a factor is rounded up or down at random in each epoch, whose length varies therefore.
    Raises ValueRangeError if thresh is not in (0, 1] or there are no examples.
    Source: Gupta, Dollár and Girshick, "LVIS: A Dataset for Large Vocabulary Instance Segmentation", 2019, section 4.1.
    """

    def __init__(self, labels: Sequence[object] | Array, thresh: float = 0.001) -> None:
        classes = [np.unique(each) for each in _classes_of_examples(labels)]
        if not 0 < thresh <= 1 or not classes:
            raise ValueRangeError(
                "RepeatFactorOrderSampler needs examples, and a thresh in (0, 1]", got=(len(classes), thresh)
            )
        known, counts = np.unique(np.concatenate(classes), return_counts=True)
        of_class = np.maximum(1, np.sqrt(thresh * len(classes) / counts))
        self.factors = np.array([of_class[np.searchsorted(known, each)].max(initial=1) for each in classes])

    def __call__(self, current_order: Array, current_position: int) -> Array:
        rng = random_generator()
        whole = np.floor(self.factors)
        counts = whole + (rng.random(len(whole)) < self.factors - whole)
        return rng.permutation(np.repeat(np.arange(len(whole)), counts.astype(np.int64)))


class GroupedOrderSampler(OrderSampler):
    """An order in which every batch has examples of one group only, such as images of similar aspect ratios.

    groups: (N,) int, the group of each example; see `aspect_ratio_groups`
    batch_size: of the iterator
    sampler: of the order before it is grouped, such as a RepeatFactorOrderSampler; None: at random

    Batches of wide and of high images need less padding. The last batch of a group is filled up with random other
    examples of the group, so that an epoch has up to batch_size - 1 more examples per group, and none is left out.
    Raises ValueRangeError if batch_size is not positive, ShapeError if groups is not (N,) int.
    """

    def __init__(self, groups: Sequence[int] | Array, batch_size: int, sampler: Sampler | None = None) -> None:
        self._groups = np.asarray(groups)
        if self._groups.ndim != 1 or self._groups.dtype.kind not in "iu":
            raise ShapeError(
                "GroupedOrderSampler: groups must be one integer per example",
                got=(self._groups.shape, self._groups.dtype),
            )
        if batch_size < 1:
            raise ValueRangeError("GroupedOrderSampler: batch_size must be positive", got=batch_size)
        self._batch_size = batch_size
        self._sampler = sampler

    def __call__(self, current_order: Array, current_position: int) -> Array:
        rng = random_generator()
        n_example = len(self._groups)
        if self._sampler is None:
            order = rng.permutation(n_example)
        else:  # the order before is the grouped one, which the sampler did not give
            order = np.asarray(self._sampler(np.arange(n_example), 0))
        batches: list[Array] = []
        waiting: dict[int, list[int]] = {}
        for index in order.tolist():
            same = waiting.setdefault(int(self._groups[index]), [])
            same.append(index)
            if len(same) == self._batch_size:
                batches.append(np.array(same))
                same.clear()
        for group, same in sorted(waiting.items()):
            if same:
                more = rng.choice(np.flatnonzero(self._groups == group), self._batch_size - len(same))
                batches.insert(int(rng.integers(len(batches) + 1)), np.array([*same, *more]))
        return np.concatenate(batches)


def aspect_ratio_groups(sizes: Sequence[Sequence[int]] | Array, bounds: Sequence[float] = (1.0,)) -> Array:
    """(N,) int64: the group of each image by its height over width, from 0: wide ones first.

    sizes: (N, 2), height and width, as `images.read_image_size` reads them from the files
    bounds: ascending aspect ratios between groups; a ratio equal to a bound is in the higher group
    Raises ShapeError if sizes is not (N, 2), ValueRangeError if a size is not positive or bounds do not ascend.
    """
    sides = np.asarray(sizes, np.float64)
    if sides.ndim != 2 or sides.shape[1] != 2:
        raise ShapeError("aspect_ratio_groups: sizes must be (N, 2)", got=sides.shape)
    if not (sides > 0).all() or not (np.diff(bounds) > 0).all():
        raise ValueRangeError("aspect_ratio_groups: sizes must be positive, bounds ascending", got=tuple(bounds))
    return np.digitize(sides[:, 0] / sides[:, 1], bounds).astype(np.int64)


def _classes_of_examples(labels: Sequence[object] | Array) -> list[Array]:
    classes = [np.atleast_1d(np.asarray(each)) for each in labels]
    for i, each in enumerate(classes):
        if each.ndim != 1 or (len(each) and each.dtype.kind not in "iu"):
            raise ShapeError(f"labels[{i}] must be an integer or (R,) integers", got=(each.shape, each.dtype))
        if len(each) and each.min() < 0:
            raise ValueRangeError(f"labels[{i}] has a negative class", got=int(each.min()))
    return [each.astype(np.int64) for each in classes]
