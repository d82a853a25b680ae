"""The best of very many scores, without sorting them all."""

import math
from collections.abc import Sequence

import numpy as np

from cvzoo.backends.detection import Scoring, logit_below
from cvzoo.backends.in_threads import in_threads

_STRIP = 1 << 19  # scores that a thread scans at a time
_ROWS = 1024  # rows of which a thread computes the softmax at a time


def best_pairs(score: np.ndarray, limit: int, *, above: float = -math.inf) -> np.ndarray:
    """(K,) int64, K <= limit: places in score.ravel() of its greatest numbers, best first, of equals the first.

    score: (R, L) real
    above: only what is greater counts; NaN never does

    A row's greatest number bounds all of it: the `limit`-th greatest of the rows' maxima is a bound that at least
    `limit` pairs reach, so only rows that reach it are searched. That makes it linear.
    """
    n_row, n_column = score.shape
    if not score.size:
        return np.zeros(0, np.int64)
    best = score[:, 0]
    if n_column > 1:
        best = np.empty(n_row, score.dtype)
        step = max(_STRIP // n_column, 1)
        strips = [slice(k, k + step) for k in range(0, n_row, step)]
        in_threads(strips, lambda rows: score[rows].max(axis=1, out=best[rows]))
    if np.isnan(best).any():
        best = np.nan_to_num(np.fmax.reduce(score, axis=1), nan=-np.inf)
    reached = best > above
    bound = -np.inf
    if n_row > limit:
        bound = np.partition(best, n_row - limit)[n_row - limit]
        reached &= best >= bound
    row = np.flatnonzero(reached)
    part = score[row]
    place = np.flatnonzero((part > above) & (part >= bound))
    value = part.ravel()[place]
    index = row[place // n_column] * n_column + place % n_column
    return index[np.argsort(-value, kind="stable")[:limit]]


def part_numbers(pair: np.ndarray, parts: Sequence[tuple[int, int]]) -> np.ndarray:
    """(K,): which of the parts each of pair (K,) is in, where parts follow one another."""
    return np.searchsorted([start + count for start, count in parts], pair, side="right")


def part_of(pair: np.ndarray, parts: Sequence[tuple[int, int]], step: int) -> np.ndarray:
    """The same also where the parts' elements are `step` apart, part s beginning at s."""
    return part_numbers(pair, parts) if step == 1 else pair % step


def best_logits(
    rows: np.ndarray, parts: Sequence[tuple[int, int]], n_class: int, limit: int, above: float
) -> np.ndarray:
    rows = rows.reshape(-1, n_class)
    indices = []
    for start, count in parts:
        first = start // n_class
        index = best_pairs(rows[first : first + count // n_class], limit, above=above)
        indices.append(np.sort(index) + start)
    return np.concatenate(indices)


def scores_above(rows: np.ndarray, scoring: Scoring, above: float, center: np.ndarray | None) -> tuple[np.ndarray, ...]:
    """Pairs (K,) int64, ascending, and scores (K,) float32 of what scores above."""
    if scoring is Scoring.SOFTMAX:
        return _softmax_above(rows, above)
    if scoring is Scoring.CENTERNESS:
        assert center is not None
        return _centered_above(rows, center[:, 0], above)
    value = np.ravel(rows) if scoring is Scoring.NONE else sigmoids(np.ravel(rows), scoring)
    pair = np.flatnonzero(value > above)
    return pair, value[pair]


def _softmax_above(conf: np.ndarray, above: float) -> tuple[np.ndarray, np.ndarray]:
    parts: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def work(start: int) -> None:
        strip = conf[start : start + _ROWS]
        # a class's probability is at most that of a softmax over it and the background: most rows need no exponential
        hopeful = np.flatnonzero(strip[:, 1:].max(axis=1) - strip[:, 0] > logit_below(above))
        logit = strip[hopeful]
        prob = np.exp(logit - logit.max(axis=1, keepdims=True))
        prob /= prob.sum(axis=1, keepdims=True)
        parts[start] = hopeful + start, prob

    in_threads(range(0, max(len(conf), 1), _ROWS), work)
    hopeful, prob = (np.concatenate(each) for each in zip(*(parts[start] for start in sorted(parts))))
    row, label = np.nonzero(prob[:, 1:] > above)
    return hopeful[row] * (conf.shape[1] - 1) + label, prob[row, label + 1]


def _centered_above(conf: np.ndarray, center: np.ndarray, above: float) -> tuple[np.ndarray, np.ndarray]:
    # a mean above the threshold needs both factors above its square
    least = logit_below(above**2)
    hopeful = np.flatnonzero(center > least)
    logit = conf[hopeful]
    pair = np.flatnonzero(logit > least)
    row, label = np.divmod(pair, conf.shape[1])
    row = hopeful[row]
    score = np.sqrt(_sigmoid(np.ravel(logit)[pair]) * _sigmoid(center[row]))
    selected = np.flatnonzero(score > above)
    return row[selected] * conf.shape[1] + label[selected], score[selected]


def best_of_parts(score: np.ndarray, part: np.ndarray, n_part: int, limit: int) -> np.ndarray | slice:
    """Which of score (K,) are among the `limit` best of their part (K,), of equals the first; ascending."""
    counts = np.bincount(part, minlength=n_part)
    if counts.max(initial=0) <= limit:
        return slice(None)
    order = np.argsort(part.astype(np.min_scalar_type(n_part)), kind="stable")
    groups = np.split(order, np.cumsum(counts)[:-1])

    def work(number: int) -> None:
        group = groups[number]
        if len(group) > limit:
            groups[number] = group[best_pairs(score[group][:, None], limit)]

    in_threads(range(len(groups)), work)
    return np.sort(np.concatenate(groups))


def sigmoids(logit: np.ndarray, scoring: Scoring) -> np.ndarray:
    return _sigmoid(logit.astype(np.float64) if scoring is Scoring.SIGMOID_FLOAT64 else logit).astype(np.float32)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # of the exponential, which makes the right 0
        return 1 / (1 + np.exp(-x))
