"""Stratified splitting: assigns examples to parts with the same distribution of classes."""

from collections.abc import Sequence

import numpy as np

from cvzoo.config.randomness import random_generator
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array, ArrayLike


def stratified_parts(
    strata: np.ndarray, sizes: Sequence[int], *, groups: np.ndarray | None = None, seed: int | None = None
) -> np.ndarray:
    """(N,) int64: the part, 0 .. P - 1, of each example.

    strata: (N,) int, the class of each example; or (N, K), non-negative, e.g. the number of objects of each class
    sizes: sizes of the P parts, N in total; met exactly, unless groups make that impossible
    groups: (N,) of any comparable values; examples of one group stay in one part
    seed: the same seed gives the same parts; None draws from cvzoo's generator

    Iterative stratification: class by class, the rarest first, each example is assigned to the part with the highest
    Sainte-Lague quotient for that class, which keeps the proportions at every step. Sechidis et al. choose the part
    with the largest absolute deficit, and thus assign the first examples all to the largest part.
    Raises ShapeError or ValueRangeError for inconsistent arguments.
    Source: after Sechidis et al., "On the Stratification of Multi-Label Data", 2011.
    """
    counts = _counts(strata)
    n = len(counts)
    room = np.array(sizes, np.int64)
    if room.ndim != 1 or (room < 0).any() or room.sum() != n:
        raise ValueRangeError("the sizes of a split do not sum to the number of examples", expected=n, got=list(sizes))
    names = np.arange(n) if groups is None else np.asarray(groups)
    if names.shape != (n,):
        raise ShapeError("a split needs one group per example", expected=(n,), got=names.shape)
    _, group = np.unique(names, return_inverse=True)
    size = np.bincount(group)
    held = np.zeros((len(size), counts.shape[1]))
    np.add.at(held, group, counts)
    generator = random_generator() if seed is None else np.random.default_rng(seed)
    return _deal(held, size, room, generator.permutation(len(size)))[group]


def _deal(held: Array, size: Array, room: Array, order: Array) -> Array:
    """(G,) int64, the part of each group. held: (G, K); size: (G,); room: (P,); order: breaks ties."""
    ratio = room / max(room.sum(), 1)
    room = room.copy()
    dealt = np.zeros((len(room), held.shape[1] + 1))
    # groups without any class form a class of their own
    held = np.column_stack([held, (held.sum(axis=1) == 0).astype(float)])
    part = np.full(len(size), -1, np.int64)
    waiting = np.count_nonzero(held, axis=0)
    while (part < 0).any():
        k = int(np.argmin(np.where(waiting > 0, waiting, len(size) + 1)))
        rows = order[(part[order] < 0) & (held[order, k] > 0)]
        for g in rows[np.argsort(-held[rows, k], kind="stable")]:
            fits = room >= size[g] if (room >= size[g]).any() else room == room.max()
            quotient = np.where(fits, ratio / (dealt[:, k] + held[g, k] / 2), -1.0)
            p = int(np.lexsort((-room, -quotient))[0])
            part[g] = p
            room[p] -= size[g]
            dealt[p] += held[g]
            waiting -= held[g] > 0
    return part


def _counts(strata: ArrayLike) -> Array:
    strata = np.asarray(strata)
    if strata.ndim == 1:
        names, label = np.unique(strata, return_inverse=True)
        return np.eye(len(names))[label]
    if strata.ndim != 2:
        raise ShapeError("the strata of a split have the wrong shape", expected="(N,) or (N, K)", got=strata.shape)
    if not np.isfinite(strata).all() or (strata < 0).any():
        raise ValueRangeError("the strata of a split must be finite and non-negative", expected="numbers of 0 or more")
    return strata.astype(np.float64)
