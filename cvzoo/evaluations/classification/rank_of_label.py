"""The rank of the true class among the predictions."""

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array, ArrayLike


def rank_of_label(probs: ArrayLike, labels: ArrayLike) -> Array:
    """The rank of the true class, (B,) int64: the number of classes of higher score; ties go to the lower class.

    probs: (B, L) float, probabilities or logits; labels: (B,) int in 0 .. L - 1
    Raises ShapeError, DtypeError or ValueRangeError with the image's index if they do not match or a score is NaN.
    """
    probs, labels = np.asarray(probs), np.asarray(labels)
    if probs.ndim != 2 or labels.shape != probs.shape[:1]:
        raise ShapeError("probs must be (B, L) and labels (B,)", got=(probs.shape, labels.shape))
    if probs.dtype.kind in "OSUcmM":  # bfloat16 is of a kind of its own
        raise DtypeError("probs must be real numbers", got=probs.dtype)
    if labels.size and labels.dtype.kind not in "iu":
        raise DtypeError("labels must be integers", got=labels.dtype)
    n_class = probs.shape[1]
    wrong = (labels < 0) | (labels >= n_class)
    if wrong.any():
        image = int(np.argmax(wrong))
        raise ValueRangeError(
            f"the label of image {image} is out of range", expected=f"0 .. {n_class - 1}", got=labels[image]
        )
    if np.isnan(probs).any():
        raise ValueRangeError(f"probs of image {int(np.argmax(np.isnan(probs).any(axis=1)))} hold NaN")
    labels = labels.astype(np.int64)
    mine = np.take_along_axis(probs, labels[:, None], axis=1)
    before = (probs > mine) | ((probs == mine) & (np.arange(n_class) < labels[:, None]))
    return before.sum(axis=1)
