"""Accuracy of a classifier on the examples of an iterator."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.evaluations.classification.accumulator import ClassificationAccumulator
from cvzoo.evaluations.classification.result import ClassificationResult
from cvzoo.evaluations.evaluators.abstract import AbstractEvaluator, Hook, Predicting
from cvzoo.typing.aliases import Array, LabelNames


class ClassificationEvaluator(AbstractEvaluator):
    """Evaluator of classification accuracy.

    Keys `main/accuracy`, `main/top1_accuracy`, `main/top5_accuracy`, `main/mean_class_accuracy`; with names
    `main/class_accuracy/<name>`. Every image has the same weight, whatever its batch.

    iterator: examples (img, label), label an integer
    target: `predict(imgs)` returns probabilities (or any scores), (n_class,) per image
    n_class: number of classes; None: as many as there are names, else as many as the first prediction has
    top: which `top<k>_accuracy` to give; label_names, hook: as for AbstractEvaluator
    Raises ValueRangeError if the number of classes is unknown: no names, no n_class, no image.
    """

    def __init__(
        self,
        iterator: Iterable[list[Any]],
        target: Predicting,
        *,
        label_names: LabelNames | None = None,
        n_class: int | None = None,
        top: Sequence[int] = (1, 5),
        hook: Hook | None = None,
    ) -> None:
        super().__init__(iterator, target, label_names=label_names, hook=hook)
        self.n_class = len(self.label_names) if n_class is None and self.label_names is not None else n_class
        self.top = tuple(top)

    @property
    def example(self) -> tuple[str, ...]:
        return "img", "label"

    def new_accumulator(self) -> "_Growing":
        return _Growing(self.n_class, self.top)

    def update(
        self, accumulator: "_Growing", predicted: tuple[list[Array], ...], truths: tuple[list[Array], ...]
    ) -> None:
        accumulator.update(np.stack([np.asarray(each) for each in predicted[0]]), np.array(truths[0]))

    def result_of(self, accumulator: "_Growing") -> ClassificationResult:
        return accumulator.compute()

    def scores_of(self, result: ClassificationResult) -> dict[str, float]:
        scores = result.to_dict()
        scores |= self.by_class("class_accuracy", scores.pop("class_accuracy"))
        return scores


class _Growing:
    """A ClassificationAccumulator that takes the number of classes from the first image if it is not given."""

    def __init__(self, n_class: int | None, top: Sequence[int]) -> None:
        self.top = top
        self.inner = None if n_class is None else ClassificationAccumulator(n_class, top=top)

    def update(self, probs: Array, labels: Array) -> None:
        if self.inner is None:
            self.inner = ClassificationAccumulator(probs.shape[1], top=self.top)
        self.inner.update(probs, labels)

    def merge(self, other: "_Growing") -> None:
        if self.inner is None:
            self.inner = other.inner
        elif other.inner is not None:
            self.inner.merge(other.inner)

    def compute(self) -> ClassificationResult:
        if self.inner is None:
            raise ValueRangeError("without images the number of classes is unknown", hint="n_class=...")
        return self.inner.compute()
