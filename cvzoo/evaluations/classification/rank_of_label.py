"""Where the true class stands among the guesses."""

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError


def rank_of_label(probs, labels):
    """(B,) int64: how many classes are guessed before the true one; 0 is right. Of equal guesses the lower class leads.

    probs: (B, L) float, the higher the surer (probabilities or logits); labels: (B,) int in 0 .. L - 1
    Raises ShapeError, DtypeError or ValueRangeError with the photo's index if they do not fit or a guess is NaN.
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
        photo = int(np.argmax(wrong))
        raise ValueRangeError(
            f"the label of photo {photo} is no class", expected=f"0 .. {n_class - 1}", got=labels[photo]
        )
    if np.isnan(probs).any():
        raise ValueRangeError(f"probs of photo {int(np.argmax(np.isnan(probs).any(axis=1)))} hold NaN")
    labels = labels.astype(np.int64)
    mine = np.take_along_axis(probs, labels[:, None], axis=1)
    before = (probs > mine) | ((probs == mine) & (np.arange(n_class) < labels[:, None]))
    return before.sum(axis=1)
