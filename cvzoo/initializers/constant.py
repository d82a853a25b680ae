"""Constant initializers."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.typing.aliases import Array, ArrayLike


class Constant:
    """Fills with a constant, or with a copy of an array of the same shape."""

    def __init__(self, value: ArrayLike):
        self.value = value

    def __call__(self, array: Array) -> None:
        if np.ndim(self.value) and np.shape(self.value) != array.shape:
            raise ShapeError("Constant: the array has another shape", expected=array.shape, got=np.shape(self.value))
        array[...] = self.value


class Zero:
    """Fills with 0."""

    def __call__(self, array: Array) -> None:
        array.fill(0)


class One:
    """Fills with 1."""

    def __call__(self, array: Array) -> None:
        array.fill(1)


class NaN:
    """Fills with NaN, to detect the use of uninitialized parameters."""

    def __call__(self, array: Array) -> None:
        array.fill(np.nan)


class Identity:
    """Fills a square matrix with `scale` on its diagonal and 0 elsewhere."""

    def __init__(self, scale: float = 1.0):
        self.scale = scale

    def __call__(self, array: Array) -> None:
        if array.ndim != 2 or array.shape[0] != array.shape[1]:
            raise ShapeError("Identity fills a square matrix", expected="(N, N)", got=array.shape)
        array.fill(0)
        np.fill_diagonal(array, self.scale)
