"""Philox4x32-10 in NumPy: a counter-based generator, whose random words are a function of a key and a position.

The GPU draws the same numbers (backends/cuda/kernels/philox.cu); this is the reference.
"""

import numpy as np

ROUNDS = 10
_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def philox_blocks(key: int, first: int, count: int, *, stream: int = 0) -> np.ndarray:
    """(count, 4) uint32, the blocks `first`, `first` + 1, ... of the key's sequence.

    key: 64 bits
    first, stream: the lower and the upper 64 bits of the 128-bit counter
    Source: Parallel Random Numbers: As Easy as 1, 2, 3 (Salmon et al., SC 2011), section 3.3, and the Random123
    library's known answers.
    """
    positions = np.uint64(first) + np.arange(count, dtype=np.uint64)
    x = [positions & _LOW, positions >> _HALF]
    x += [np.full(count, stream & 0xFFFFFFFF, np.uint64), np.full(count, stream >> 32, np.uint64)]
    keys = [key & 0xFFFFFFFF, key >> 32]
    for _ in range(ROUNDS):
        first_product, second_product = x[0] * _MULTIPLIERS[0], x[2] * _MULTIPLIERS[1]
        x = [
            (second_product >> _HALF) ^ x[1] ^ np.uint64(keys[0]),
            second_product & _LOW,
            (first_product >> _HALF) ^ x[3] ^ np.uint64(keys[1]),
            first_product & _LOW,
        ]
        keys = [(k + step) & 0xFFFFFFFF for k, step in zip(keys, _KEY_STEPS)]
    return np.stack(x, 1).astype(np.uint32)


def uniform_float32(words: np.ndarray) -> np.ndarray:
    """float32 of uint32 words of the same shape: multiples of 2^-24 in [0, 1)."""
    return (words >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)


def uniform_float64(words: np.ndarray) -> np.ndarray:
    """float64 (..., N / 2) of uint32 words (..., N): multiples of 2^-53 in [0, 1), of two words each."""
    high, low = words[..., ::2].astype(np.uint64), words[..., 1::2].astype(np.uint64)
    return ((high >> np.uint64(5)) * np.uint64(1 << 26) + (low >> np.uint64(6))).astype(np.float64) * 2.0**-53


def standard_normal(uniforms: np.ndarray) -> np.ndarray:
    """Normal numbers (..., N) of uniform ones (..., N) of [0, 1), pair by pair.

    Source: A Note on the Generation of Random Normal Deviates (Box and Muller, 1958).
    """
    radius = np.sqrt(-2 * np.log(1 - uniforms[..., ::2]))
    angle = 2 * np.pi * uniforms[..., 1::2].astype(np.float64)
    pair = [radius * np.cos(angle), radius * np.sin(angle)]
    return np.stack(pair, -1).reshape(uniforms.shape).astype(uniforms.dtype)
