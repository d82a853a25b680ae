"""Finds near-duplicates by a perceptual hash of 256 bits (dHash) and the correlation of thumbnails."""

import numpy as np

from cvzoo.typing.aliases import Array

_MAX_DISTANCE = 32  # bits of 256; images of different scenes differ in about 128
# of the thumbnails: receipts of one printer reach 0.95; the same image, compressed or downscaled again, 0.99
_MIN_CORRELATION = 0.98
_FLAT = 12.0  # standard deviation in gray levels below which the bits of the hash are noise
_BLOCK = 256  # images compared with all others at a time, which bounds memory


def near_duplicates(fingerprints: Array, looks: Array) -> list[tuple[int, int]]:
    """Pairs (i, j), i < j, of near-duplicate images.

    fingerprints: (N, 32) uint8; looks: (N, 32, 32) uint8
    All pairs are compared: 20,000 images take some seconds, 100,000 a few minutes.
    """
    n = len(fingerprints)
    if n == 0:
        return []
    pairs: list[tuple[int, int]] = []
    spread = looks.reshape(n, -1).std(axis=1)
    words = np.ascontiguousarray(fingerprints).view(np.uint64)
    for start in range(0, n, _BLOCK):
        block = words[start : start + _BLOCK]
        distance = np.zeros((len(block), n - start), np.uint16)
        for column in range(words.shape[1]):
            distance += np.bitwise_count(block[:, column, None] ^ words[None, start:, column])
        for i, j in zip(*np.nonzero(distance <= _MAX_DISTANCE)):
            if i < j:
                a, b = start + int(i), start + int(j)
                if spread[a] > _FLAT and _look_alike(looks[a], looks[b]):
                    pairs.append((a, b))
    return pairs


def _look_alike(a: Array, b: Array) -> bool:
    """Whether the thumbnails correlate, which ignores changes of brightness and contrast."""
    return float(np.corrcoef(a.ravel(), b.ravel())[0, 1]) >= _MIN_CORRELATION
