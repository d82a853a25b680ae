"""Accuracy of a classifier on the examples of an iterator."""

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.evaluations.classification.accumulator import ClassificationAccumulator
from cvzoo.evaluations.evaluators.abstract import AbstractEvaluator


class ClassificationEvaluator(AbstractEvaluator):
    """Keys `main/accuracy`, `main/top1_accuracy`, `main/top5_accuracy`, `main/mean_class_accuracy`; with names
    `main/class_accuracy/<name>`. Every photo weighs the same, whatever its batch.

    iterator: examples (img, label), label an integer
    target: `predict(imgs)` gives probabilities (or any scores), (n_class,) a photo
    n_class: how many classes there are; None: as many as there are names, else as many as the first prediction has
    top: which `top<k>_accuracy` to give; label_names, hook: as for AbstractEvaluator
    Raises ValueRangeError if nobody tells how many classes there are: no names, no n_class, no photo.
    """

    def __init__(self, iterator, target, *, label_names=None, n_class=None, top=(1, 5), hook=None):
        super().__init__(iterator, target, label_names=label_names, hook=hook)
        self.n_class = len(self.label_names) if n_class is None and self.label_names is not None else n_class
        self.top = tuple(top)

    @property
    def example(self):
        return "img", "label"

    def new_accumulator(self):
        return _Growing(self.n_class, self.top)

    def update(self, accumulator, predicted, truths):
        accumulator.update(np.stack([np.asarray(each) for each in predicted[0]]), np.array(truths[0]))

    def result_of(self, accumulator):
        return accumulator.compute()

    def scores_of(self, result):
        scores = result.to_dict()
        scores |= self.by_class("class_accuracy", scores.pop("class_accuracy"))
        return scores


class _Growing:
    """A ClassificationAccumulator that learns from the first photo how many classes there are."""

    def __init__(self, n_class, top):
        self.top = top
        self.inner = None if n_class is None else ClassificationAccumulator(n_class, top=top)

    def update(self, probs, labels):
        if self.inner is None:
            self.inner = ClassificationAccumulator(probs.shape[1], top=self.top)
        self.inner.update(probs, labels)

    def merge(self, other):
        if self.inner is None:
            self.inner = other.inner
        elif other.inner is not None:
            self.inner.merge(other.inner)

    def compute(self):
        if self.inner is None:
            raise ValueRangeError("no photo, and nobody says how many classes there are", hint="n_class=...")
        return self.inner.compute()
