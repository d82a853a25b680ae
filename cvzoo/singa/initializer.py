"""SINGA's `initializer`: functions that fill a Tensor, in place.

fan_in and fan_out are the axes 0 and 1 of a matrix; for (out, in, KH, KW), in * KH * KW and out * KH * KW.
"""

import math

import numpy as np

from cvzoo.config.randomness import random_generator
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.singa.tensor_class import Tensor


def eye(t: Tensor) -> None:
    """Ones on the diagonal, zeros elsewhere."""
    _check_matrix("eye", t)
    rows, columns = t.shape
    t.copy_from_numpy(np.eye(rows, columns, dtype=np.float32))


def orthogonal(t: Tensor, gain: float = 1.0) -> None:
    """A random orthogonal matrix, times `gain`; its rows or columns, whichever are fewer, are orthonormal."""
    _check_matrix("orthogonal", t)
    u, _, v = np.linalg.svd(random_generator().normal(size=t.shape), full_matrices=False)
    t.copy_from_numpy((gain * (u if u.shape == t.shape else v)).astype(np.float32))


def lecun_uniform(t: Tensor) -> None:
    """Uniform within sqrt(3 / fan_in)."""
    _fill(t, 1.0, _fans(t)[0], uniform=True)


def lecun_normal(t: Tensor) -> None:
    """Normal, standard deviation sqrt(1 / fan_in)."""
    _fill(t, 1.0, _fans(t)[0])


def glorot_uniform(t: Tensor) -> None:
    """Uniform within sqrt(6 / (fan_in + fan_out))."""
    _fill(t, 1.0, sum(_fans(t)) / 2, uniform=True)


def glorot_normal(t: Tensor) -> None:
    """Normal, standard deviation sqrt(2 / (fan_in + fan_out))."""
    _fill(t, 1.0, sum(_fans(t)) / 2)


def he_uniform(t: Tensor) -> None:
    """Uniform within sqrt(6 / fan_in)."""
    _fill(t, 2.0, _fans(t)[0], uniform=True)


def he_normal(t: Tensor) -> None:
    """Normal, standard deviation sqrt(2 / fan_in)."""
    _fill(t, 2.0, _fans(t)[0])


def gaussian(t: Tensor, fan_in: int = 0, fan_out: int = 0) -> None:
    """Normal, standard deviation sqrt(4 / (fan_in + fan_out)), or sqrt(2 / that) where one of them is 0."""
    if fan_in + fan_out <= 0:
        raise ValueRangeError("gaussian: fan_in and fan_out", expected="one of them above 0", got=(fan_in, fan_out))
    t.gaussian(0.0, math.sqrt((4.0 if fan_in * fan_out else 2.0) / (fan_in + fan_out)))


def xavier(t: Tensor) -> None:
    """Uniform within sqrt(6 / (rows + columns))."""
    _check_matrix("xavier", t)
    limit = math.sqrt(6.0 / sum(t.shape))
    t.uniform(-limit, limit)


def glorot(t: Tensor) -> None:
    """Normal, standard deviation sqrt(2 / (rows + columns))."""
    _check_matrix("glorot", t)
    t.gaussian(0.0, math.sqrt(2.0 / sum(t.shape)))


def msra(t: Tensor) -> None:
    """Normal, standard deviation sqrt(2 / rows)."""
    _check_matrix("msra", t)
    t.gaussian(0.0, math.sqrt(2.0 / t.shape[0]))


def _check_matrix(name: str, t: Tensor) -> None:
    if len(t.shape) != 2:
        raise ShapeError(f"{name} fills a matrix", got=t.shape)


def _fans(t: Tensor) -> tuple[float, float]:
    shape = t.shape
    if len(shape) == 2:
        return shape[0], shape[1]
    if 3 <= len(shape) <= 5:
        n = math.prod(shape[2:])
        return shape[1] * n, shape[0] * n
    return math.sqrt(math.prod(shape)), math.sqrt(math.prod(shape))


def _fill(t: Tensor, scale: float, fan: float, *, uniform: bool = False) -> None:
    variance = scale / max(1.0, fan)
    if uniform:
        t.uniform(-math.sqrt(3 * variance), math.sqrt(3 * variance))
    else:
        t.gaussian(0.0, math.sqrt(variance))
