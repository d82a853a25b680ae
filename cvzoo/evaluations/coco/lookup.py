"""Finding ids among sorted ids, and sorting by packed integers."""

import numpy as np


def lookup(ids: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each of the values stands among the ids, (N,) int64, and whether it is there at all, (N,) bool.

    ids: (I,) int64, rising; values: (N,) int64. The place of a value that is not there means nothing.
    """
    if not ids.size:
        return np.zeros(values.shape, np.int64), np.zeros(values.shape, bool)
    low, span = int(ids[0]), int(ids[-1]) - int(ids[0]) + 1
    if span <= 8 * values.size + (1 << 16):  # a table is some times faster than a search
        table = np.full(span + 1, -1, np.int64)
        table[ids - low] = np.arange(ids.size)
        inside = (values >= low) & (values <= ids[-1])
        place = table[np.where(inside, values - low, span)]
        return np.maximum(place, 0), place >= 0
    place = np.minimum(np.searchsorted(ids, values), ids.size - 1)
    return place, ids[place] == values


def stable_order(major: np.ndarray, minor: np.ndarray | None = None) -> np.ndarray:
    """The stable order by (major, minor), (N,) int64, as `np.lexsort((minor, major))` gives it.

    major, minor: (N,) int64, none negative

    The keys and the place are packed into one integer where they fit: sorting numbers is several times faster than
    sorting their places.
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


def falling_ranks(score: np.ndarray) -> np.ndarray:
    """0 for the highest score, 1 for the next lower one, and so on; equal scores have equal ranks. (N,) int64.

    score: (N,) float64 without NaN
    """
    ranks = np.zeros(score.size, np.int64)
    if score.size:
        order = np.argsort(-score)
        falling = score[order]
        ranks[order[1:]] = np.cumsum(falling[1:] != falling[:-1])
    return ranks


def run_starts(key: np.ndarray) -> np.ndarray:
    """Where runs of equal values begin in a sorted key."""
    if not key.size:
        return np.zeros(0, np.int64)
    return np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))


def places_in_runs(key: np.ndarray) -> np.ndarray:
    """The place of each element in its run of equal values, (N,) int64; key is sorted."""
    starts = run_starts(key)
    return np.arange(key.size) - np.repeat(starts, np.diff(np.append(starts, key.size)))
