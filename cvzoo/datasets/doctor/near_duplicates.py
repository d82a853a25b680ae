"""Finds near-duplicates by a perceptual hash of 256 bits (dHash) and the correlation of thumbnails."""

import numpy as np

from cvzoo.typing.aliases import Array

_MAX_DISTANCE = 32  # bits of 256; images of different scenes differ in about 128
# of the thumbnails: receipts of one printer reach 0.95; the same image, compressed or downscaled again, 0.99
_MIN_CORRELATION = 0.98
_FLAT = 12.0  # standard deviation in gray levels below which the bits of the hash are noise
_ROWS, _COLUMNS = 32, 4096  # images compared with images at a time, so that their distances stay in the cache


def near_duplicates(fingerprints: Array, looks: Array) -> list[tuple[int, int]]:
    """Pairs (i, j), i < j, of near-duplicate images, ascending.

    fingerprints: (N, 32) uint8; looks: (N, 32, 32) uint8
    All pairs are compared: 20,000 images take a second, 100,000 half a minute.
    """
    return [(a, b) for a, b in near_fingerprints(fingerprints) if is_near(looks[a], looks[b])]


def near_fingerprints(fingerprints: Array, n_new: int | None = None) -> list[tuple[int, int]]:
    """Pairs (i, j), i < j, of images whose hashes differ in few bits, ascending.

    fingerprints: (N, 32) uint8; n_new: only pairs with one of the first n_new images
    """
    n = len(fingerprints)
    if n == 0:
        return []
    n_new = n if n_new is None else n_new
    # one row per 64 bits, as neighbors are compared with each other
    words = np.ascontiguousarray(np.ascontiguousarray(fingerprints).view(np.uint64).reshape(n, -1).T)
    pairs: list[tuple[int, int]] = []
    for start in range(0, n_new, _ROWS):
        first, second = [], []
        for left in range(start, n, _COLUMNS):
            i, j = _near(words[:, start : min(start + _ROWS, n_new)], words[:, left : left + _COLUMNS])
            later = i + start < j + left
            first.append(i[later] + start)
            second.append(j[later] + left)
        pairs += sorted(zip(np.concatenate(first).tolist(), np.concatenate(second).tolist()))
    return pairs


def is_near(look: Array, other: Array) -> bool:
    """Whether two images whose hashes are near look alike, too. look, other: (32, 32) uint8, of the first, second"""
    return bool(look.std() > _FLAT and np.ptp(other) > 0) and _look_alike(look, other)


def _near(a: Array, b: Array) -> tuple[Array, Array]:
    """The indices of columns of a and b that differ in at most _MAX_DISTANCE bits."""
    half = len(a) // 2
    i, j = np.nonzero(_distance(a[:half, :, None], b[:half, None, :]) <= _MAX_DISTANCE)  # few: half of the bits suffice
    near = _distance(a[:, i], b[:, j]) <= _MAX_DISTANCE
    return i[near], j[near]


def _distance(a: Array, b: Array) -> Array:
    """The number of bits that differ, at most 256, which is given as 255."""
    total = np.bitwise_count(a[0] ^ b[0])
    for one, other in zip(a[1:], b[1:]):
        more = np.bitwise_count(one ^ other)
        total = np.minimum(total, 255 - more) + more  # uint8 of four words could be 256
    return total


def _look_alike(a: Array, b: Array) -> bool:
    """Whether the thumbnails correlate, which ignores changes of brightness and contrast."""
    return float(np.corrcoef(a.ravel(), b.ravel())[0, 1]) >= _MIN_CORRELATION
