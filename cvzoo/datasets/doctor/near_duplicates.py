"""Photos that look the same: compared by 256 signs and a small copy each."""

from collections.abc import Callable

import numpy as np

_MAX_SIGNS = 32  # of 256 that may differ; photos of different scenes differ in about 128
# Of the small copies. Receipts of one printer reach 0.95; the same photo, compressed or shrunk once more, 0.99
_MIN_CORRELATION = 0.98
_FLAT = 12.0  # grey levels of spread under which a photo's signs are noise and say nothing
_BLOCK = 256


def near_duplicates(
    fingerprints: np.ndarray, looks: np.ndarray, step: Callable[[], None] | None = None
) -> list[tuple[int, int]]:
    """Pairs (i, j), i < j, of photos that look the same.

    fingerprints: (N, 32) uint8; looks: (N, 32, 32) uint8; step: called after each block of photos
    Every photo is compared with every other: 20,000 photos take some seconds, 100,000 a few minutes.
    """
    n = len(fingerprints)
    if n == 0:
        return []
    pairs: list[tuple[int, int]] = []
    spread = looks.reshape(n, -1).std(axis=1)
    words = np.ascontiguousarray(fingerprints).view(np.uint64)
    for start in range(0, n, _BLOCK):
        block = words[start : start + _BLOCK]
        apart = np.zeros((len(block), n - start), np.uint16)
        for column in range(words.shape[1]):
            apart += np.bitwise_count(block[:, column, None] ^ words[None, start:, column])
        for i, j in zip(*np.nonzero(apart <= _MAX_SIGNS)):
            if i < j:
                a, b = start + int(i), start + int(j)
                if spread[a] > _FLAT and _look_alike(looks[a], looks[b]):
                    pairs.append((a, b))
        if step is not None:
            step()
    return pairs


def _look_alike(a, b):
    """Whether the small copies agree up to brightness and contrast, which may have been changed on the way."""
    return float(np.corrcoef(a.ravel(), b.ravel())[0, 1]) >= _MIN_CORRELATION
