"""Which part of a split each example goes to, so that every part has the same mix of classes."""

from collections.abc import Sequence

import numpy as np

from cvzoo.config.randomness import random_generator
from cvzoo.errors.exceptions import ShapeError, ValueRangeError


def stratified_parts(
    strata: np.ndarray, sizes: Sequence[int], *, groups: np.ndarray | None = None, seed: int | None = None
) -> np.ndarray:
    """(N,) int64: the part, 0 .. P - 1, of each example.

    strata: (N,) int, the class of each example; or (N, K) numbers, none negative, how much of each class it holds
    sizes: P numbers of examples, N in all; met exactly, but for what groups make impossible
    groups: (N,) of anything that can be compared; examples of one group stay together
    seed: the same seed gives the same parts; None draws from cvzoo's generator

    Class by class, the rarest first, examples go one by one to the part that has too few of the class, as seats of a
    parliament are given by the method of Sainte-Lague: shares are kept along the way, and what cannot be cut goes to
    the larger part. After Sechidis et al., "On the Stratification of Multi-Label Data", 2011, which takes the part with
    the greatest need in numbers, and so gives the first examples all to the largest.
    Raises ShapeError or ValueRangeError for what does not fit.
    """
    counts = _counts(strata)
    n = len(counts)
    room = np.array(sizes, np.int64)
    if room.ndim != 1 or (room < 0).any() or room.sum() != n:
        raise ValueRangeError("the sizes of a split", expected=f"whole numbers that sum to {n}", got=list(sizes))
    names = np.arange(n) if groups is None else np.asarray(groups)
    if names.shape != (n,):
        raise ShapeError("the groups of a split", expected=(n,), got=names.shape)
    _, group = np.unique(names, return_inverse=True)
    size = np.bincount(group)
    held = np.zeros((len(size), counts.shape[1]))
    np.add.at(held, group, counts)
    generator = random_generator() if seed is None else np.random.default_rng(seed)
    return _deal(held, size, room, generator.permutation(len(size)))[group]


def _deal(held, size, room, order):
    """(G,) int64, the part of each group. held: (G, K); size: (G,); room: (P,); order: in which equals are taken."""
    share = room / max(room.sum(), 1)
    room = room.copy()
    dealt = np.zeros((len(room), held.shape[1] + 1))
    # what holds no class has its own; everything has it a little, so that it decides where nothing else does
    held = np.column_stack([held, (held.sum(axis=1) == 0).astype(float)])
    part = np.full(len(size), -1, np.int64)
    waiting = np.count_nonzero(held, axis=0)
    while (part < 0).any():
        k = int(np.argmin(np.where(waiting > 0, waiting, len(size) + 1)))
        rows = order[(part[order] < 0) & (held[order, k] > 0)]
        for g in rows[np.argsort(-held[rows, k], kind="stable")]:
            fits = room >= size[g] if (room >= size[g]).any() else room == room.max()
            claim = np.where(fits, share / (dealt[:, k] + held[g, k] / 2), -1.0)
            p = int(np.lexsort((-room, -claim))[0])
            part[g] = p
            room[p] -= size[g]
            dealt[p] += held[g]
            waiting -= held[g] > 0
    return part


def _counts(strata):
    strata = np.asarray(strata)
    if strata.ndim == 1:
        names, label = np.unique(strata, return_inverse=True)
        return np.eye(len(names))[label]
    if strata.ndim != 2:
        raise ShapeError("the strata of a split", expected="(N,) or (N, K)", got=strata.shape)
    if not np.isfinite(strata).all() or (strata < 0).any():
        raise ValueRangeError("the strata of a split", expected="numbers of 0 or more")
    return strata.astype(np.float64)
