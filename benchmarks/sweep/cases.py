"""What a case of the sweep is: calls of a kernel, what they must give in float64, and how far off they may be."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cvzoo.backends.numpy import backend as numpy_backend
from cvzoo.backends.onednn import backend as onednn_backend

FAST, REFERENCE = onednn_backend, numpy_backend
_ROUNDING = 2.0**-24
Expected = tuple[np.ndarray, np.ndarray | float]  # in float64, and by how much each number may differ


@dataclasses.dataclass(frozen=True)
class Check:
    """One call: `run` gives an array or several, `expected` says what they are."""

    name: str
    run: Callable[[], Any]
    expected: Sequence[Expected]


@dataclasses.dataclass(frozen=True)
class Case:
    """Calls with the same arrays. words: shapes and settings; inputs: arrays, which must not be changed."""

    words: str
    inputs: Sequence[np.ndarray]
    checks: Sequence[Check]


def rounding(n: float) -> float:
    """How far off a float32 sum of n numbers may be, as a share of the sum of their absolute values.

    Errors of single roundings add up as a random walk does; a number that was left out or taken twice is far above.
    """
    return _ROUNDING * (4 + n**0.5)


def pick(rng: np.random.Generator, *choices: Any) -> Any:
    """One of the choices."""
    return choices[int(rng.integers(len(choices)))]


def image(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """(B, C, H, W) float32 of normal numbers; mostly channels-last, now and then in C order."""
    b, c, h, w = shape
    if rng.random() < 0.15:
        return rng.standard_normal(shape, np.float32)
    return rng.standard_normal((b, h, w, c), np.float32).transpose(0, 3, 1, 2)


def wide(*arrays: np.ndarray | None) -> list[Any]:
    """The same numbers in float64."""
    return [None if a is None else a.astype(np.float64) for a in arrays]


def sizes(*arrays: np.ndarray | None) -> list[Any]:
    """Absolute values in float64."""
    return [None if a is None else np.abs(a.astype(np.float64)) for a in arrays]


def channel_number(rng: np.random.Generator) -> int:
    """Around the sizes of registers, and others."""
    return int(pick(rng, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 20, 24, 31, 32, 33, 40, 48, 64, 65, 96, 128))
