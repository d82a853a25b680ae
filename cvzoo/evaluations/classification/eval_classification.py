"""Accuracy of class labels."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.evaluations.classification.accumulator import ClassificationAccumulator


def eval_classification(probs, labels, *, top=(1, 5)):
    """{'accuracy', 'top1_accuracy', 'top5_accuracy', 'class_accuracy', 'mean_class_accuracy'}.

    probs: (B, L) float, the higher the surer; labels: (B,) int
    top: which top<k>_accuracy to give. Of equal guesses the lower class leads.
    class_accuracy is (L,) float64, NaN for classes without photos, which the mean leaves out.
    Raises ShapeError, DtypeError or ValueRangeError with the photo's index if they do not fit or a guess is NaN.
    """
    probs = np.asarray(probs)
    if probs.ndim != 2 or probs.shape[1] == 0:
        raise ShapeError("probs must be (B, L)", got=probs.shape)
    accumulator = ClassificationAccumulator(probs.shape[1], top=top)
    accumulator.update(probs, labels)
    return accumulator.compute().to_dict()
