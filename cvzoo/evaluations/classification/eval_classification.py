"""Accuracy of class labels."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.evaluations.classification.accumulator import ClassificationAccumulator
from cvzoo.typing.aliases import ArrayLike


def eval_classification(probs: ArrayLike, labels: ArrayLike, *, top: Iterable[int] = (1, 5)) -> dict[str, Any]:
    """Accuracy of a classifier: 'accuracy', 'top1_accuracy', 'top5_accuracy', 'class_accuracy', 'mean_class_accuracy'.

    probs: (B, L) float, the higher the more confident; labels: (B,) int
    top: which top<k>_accuracy to give. Of equal predictions the lower class leads.
    class_accuracy is (L,) float64, NaN for classes without images, which the mean leaves out.
    Raises ShapeError, DtypeError or ValueRangeError with the image's index if they do not fit or a prediction is NaN.
    """
    probs = np.asarray(probs)
    if probs.ndim != 2 or probs.shape[1] == 0:
        raise ShapeError("probs must be (B, L)", got=probs.shape)
    accumulator = ClassificationAccumulator(probs.shape[1], top=top)
    accumulator.update(probs, labels)
    return accumulator.compute().to_dict()
