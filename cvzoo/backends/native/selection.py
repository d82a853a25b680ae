"""Selection of scores by our own kernels: probabilities above a threshold, and the best of each class."""

import ctypes

import numpy as np

from cvzoo.backends.arrays import numpy_address
from cvzoo.backends.native.library import native
from cvzoo.backends.native.plans import BestOfPartsPlan, SoftmaxAbovePlan
from cvzoo.backends.openmp import threads_now

_STRIP = 256  # of selection.c
_Arrays = ctypes.c_void_p * 4


def softmax_above_natively(conf: np.ndarray, above: float, least: float) -> tuple[np.ndarray, np.ndarray] | None:
    """Pairs (K,) int64 of row and class, row * (L - 1) + class, ascending, and their probabilities (K,) float32.

    conf: (R, L) float32, logits, the background's first
    above: probabilities are greater; least: such that no class whose logit exceeds the background's by less is above
    None if NumPy must compute it.
    """
    library = native()
    if library is None or conf.dtype != np.float32 or conf.shape[1] < 2:
        return None
    conf = np.ascontiguousarray(conf)
    rows, n = conf.shape
    pairs, scores = np.empty(rows * (n - 1), np.int64), np.empty(rows * (n - 1), np.float32)
    counts = np.zeros(max(-(-rows // _STRIP), 1), np.int64)
    plan = SoftmaxAbovePlan(rows, n, above, least)
    arrays = _Arrays(*map(numpy_address, (conf, pairs, scores, counts)))
    if library.kernels["softmax_above"](ctypes.addressof(plan), arrays, threads_now()[0]):
        raise MemoryError
    count = int(counts[0])
    return pairs[:count], scores[:count]


def best_of_parts_natively(score: np.ndarray, part: np.ndarray, n_part: int, limit: int) -> np.ndarray | None:
    """(K',) int64, ascending: which of score (K,) are among the `limit` best of their part (K,), of equals the first.

    score: none is NaN; part: below n_part; limit: at least 1. None if NumPy must select them.
    """
    library = native()
    if library is None or score.dtype != np.float32:
        return None
    score, part = np.ascontiguousarray(score), np.ascontiguousarray(part, np.int32)
    kept, count = np.empty(len(score), np.int64), ctypes.c_int64()
    plan = BestOfPartsPlan(len(score), n_part, limit)
    arrays = _Arrays(*map(numpy_address, (score, part, kept)), ctypes.addressof(count))
    if library.kernels["best_of_parts"](ctypes.addressof(plan), arrays, 1):
        raise MemoryError
    return kept[: count.value]
