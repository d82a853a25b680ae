"""Finds near-duplicates by a perceptual hash of 256 bits (dHash) and the correlation of thumbnails."""

from collections.abc import Iterator

import numpy as np

from cvzoo.typing.aliases import Array

_MAX_DISTANCE = 32  # bits of 256; images of different scenes differ in about 128
# of the thumbnails: receipts of one printer reach 0.95; the same image, compressed or downscaled again, 0.99
_MIN_CORRELATION = 0.98
_FLAT = 12.0  # standard deviation in gray levels below which the bits of the hash are noise
_ROWS, _COLUMNS = 32, 4096  # images compared with images at a time, so that their distances stay in the cache
_PAIRS = 4096  # whose thumbnails are compared at a time


def near_duplicates(fingerprints: Array, looks: Array) -> list[tuple[int, int]]:
    """Pairs (i, j), i < j, of near-duplicate images, ascending.

    fingerprints: (N, 32) uint8; looks: (N, 32, 32) uint8
    All pairs are compared: 20,000 images take a second, 100,000 half a minute.
    """
    found: list[tuple[int, int]] = []
    for i, j in near_fingerprints(fingerprints):
        near = are_near(looks[i], looks[j])
        found += zip(i[near].tolist(), j[near].tolist())
    return found


def near_fingerprints(fingerprints: Array, n_new: int | None = None) -> Iterator[tuple[Array, Array]]:
    """Pairs (i, j), i < j, of images whose hashes differ in few bits, ascending; some thousands at a time.

    fingerprints: (N, 32) uint8; n_new: only pairs with one of the first n_new images
    """
    n = len(fingerprints)
    if n == 0:
        return
    n_new = n if n_new is None else n_new
    # one row per 64 bits, as neighbors are compared with each other
    words = np.ascontiguousarray(np.ascontiguousarray(fingerprints).view(np.uint64).reshape(n, -1).T)
    for start in range(0, n_new, _ROWS):
        first, second = [], []
        for left in range(start, n, _COLUMNS):
            i, j = _near(words[:, start : min(start + _ROWS, n_new)], words[:, left : left + _COLUMNS])
            later = i + start < j + left
            first.append(i[later] + start)
            second.append(j[later] + left)
        i, j = np.concatenate(first), np.concatenate(second)
        order = np.lexsort((j, i))
        for k in range(0, len(order), _PAIRS):
            yield i[order[k : k + _PAIRS]], j[order[k : k + _PAIRS]]


def are_near(looks: Array, others: Array) -> Array:
    """Whether two images whose hashes are near look alike, too: their thumbnails correlate, whatever their brightness
    and contrast.

    looks, others: (N, 32, 32) uint8, of the first and the second image of each pair; returns (N,) bool
    """
    a, b = (each.reshape(len(each), -1).astype(np.int32) for each in (looks, others))
    # sums of integers are exact: 1,024 products of 8 bits
    n = np.int64(a.shape[1])
    of_a, of_b, of_both = (np.einsum("ij,ij->i", x, y).astype(np.int64) for x, y in ((a, a), (b, b), (a, b)))
    sum_a, sum_b = a.sum(1, dtype=np.int64), b.sum(1, dtype=np.int64)
    variance_a, variance_b = n * of_a - sum_a**2, n * of_b - sum_b**2  # times n**2
    scale = np.sqrt(variance_a.astype(np.float64) * variance_b.astype(np.float64))
    is_textured = (variance_a > (_FLAT * n) ** 2) & (variance_b > 0)
    return is_textured & (n * of_both - sum_a * sum_b >= _MIN_CORRELATION * scale)


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
