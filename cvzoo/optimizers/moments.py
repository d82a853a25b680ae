"""The first and second moment of Adam and its family."""

from collections.abc import Mapping

import numpy as np

from cvzoo.typing.aliases import Array


def update_moments(m: Array, v: Array, g: Array, rest1: Array, rest2: Array, scratch: Array) -> None:
    """m += (1 - beta1) (g - m), v += (1 - beta2) (g^2 - v), in place.

    rest1, rest2: 1 - beta1 and 1 - beta2
    """
    np.subtract(g, m, scratch)
    np.multiply(scratch, rest1, scratch)
    np.add(m, scratch, m)
    np.multiply(g, g, scratch)
    np.subtract(scratch, v, scratch)
    np.multiply(scratch, rest2, scratch)
    np.add(v, scratch, v)


def direction(m: Array, v: Array, eps: Array, out: Array) -> Array:
    """m / (sqrt(v) + eps) into `out`."""
    np.sqrt(v, out)
    np.add(out, eps, out)
    return np.divide(m, out, out)


def bias_corrections(hp: Mapping[str, float], t: int) -> tuple[float, float]:
    """1 - beta1^t, and the square root of 1 - beta2^t."""
    return 1 - hp["beta1"] ** t, (1 - hp["beta2"] ** t) ** 0.5
