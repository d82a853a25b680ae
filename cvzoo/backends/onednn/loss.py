"""Losses from scores and labels whose logarithms are oneDNN's."""

import numpy as np

from cvzoo.backends.interface import State
from cvzoo.backends.numpy.loss import picked
from cvzoo.backends.onednn.softmax import log_softmax

__all__ = ["softmax_cross_entropy"]


def softmax_cross_entropy(
    x: np.ndarray, t: np.ndarray, class_weight: np.ndarray | None, *, ignore_label: int
) -> tuple[np.ndarray, State]:
    """See `AbstractBackend.softmax_cross_entropy`."""
    return picked(log_softmax(x, axis=1), t, class_weight, ignore_label)
