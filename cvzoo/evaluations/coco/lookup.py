"""Lookup of ids in sorted ids, and sorting by packed integers."""

import numpy as np

from cvzoo.typing.aliases import Array


def lookup(ids: Array, values: np.ndarray) -> tuple[Array, Array]:
    """The index of each value in ids, (N,) int64, and whether ids has it, (N,) bool.

    ids: (I,) int64, ascending; values: (N,) int64. The index of a value that ids does not have is meaningless.
    """
    if not ids.size:
        return np.zeros(values.shape, np.int64), np.zeros(values.shape, bool)
    low, span = int(ids[0]), int(ids[-1]) - int(ids[0]) + 1
    if span <= 8 * values.size + (1 << 16):  # a table is several times faster than a binary search
        table = np.full(span + 1, -1, np.int64)
        table[ids - low] = np.arange(ids.size)
        inside = (values >= low) & (values <= ids[-1])
        place = table[np.where(inside, values - low, span)]
        return np.maximum(place, 0), place >= 0
    place = np.minimum(np.searchsorted(ids, values), ids.size - 1)
    return place, ids[place] == values


def stable_order(major: Array, minor: Array | None = None) -> Array:
    """The stable order by (major, minor), (N,) int64, that of `np.lexsort((minor, major))`.

    major, minor: (N,) int64, not negative

    Keys and index are packed into one integer if they fit: `sort` is several times faster than `argsort`.
    """
    n = major.size
    if not n:
        return np.zeros(0, np.int64)
    minor_bits = 0 if minor is None else int(minor.max()).bit_length()
    place_bits = (n - 1).bit_length()
    if int(major.max()).bit_length() + minor_bits + place_bits > 63:
        return np.argsort(major, kind="stable") if minor is None else np.lexsort((minor, major))
    packed = major << (minor_bits + place_bits)
    if minor is not None:
        packed |= minor << place_bits
    packed |= np.arange(n)
    packed.sort()
    packed &= (1 << place_bits) - 1
    return packed


def falling_ranks(score: np.ndarray) -> Array:
    """The dense rank of each score, (N,) int64: 0 for the highest, equal ranks for equal scores.

    score: (N,) float64 without NaN
    """
    ranks = np.zeros(score.size, np.int64)
    if score.size:
        order = np.argsort(-score)  # not stable, which is faster: equal scores get equal ranks in any order
        falling = score[order]
        ranks[order[1:]] = np.cumsum(falling[1:] != falling[:-1])
    return ranks


def run_starts(key: np.ndarray) -> Array:
    """The index of the first element of each run of equal values in a sorted key."""
    if not key.size:
        return np.zeros(0, np.int64)
    return np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))


def places_in_runs(key: np.ndarray) -> Array:
    """The index of each element within its run of equal values, (N,) int64; key is sorted."""
    starts = run_starts(key)
    return np.arange(key.size) - np.repeat(starts, np.diff(np.append(starts, key.size)))
