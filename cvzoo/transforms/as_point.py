"""The argument check of every public function that takes points."""

from collections.abc import Sequence
from typing import TypeGuard

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.typing.aliases import ArrayLike, Point


def as_point(point: ArrayLike, name: str = "point") -> Point:
    """The points as a floating-point array with (y, x) as its last axis: the array itself or a float32 copy.

    point: (R, K, 2), or (K, 2) of one instance; the corners of quadrilaterals are (R, 4, 2)
    Raises ShapeError if the last axis is not 2, DtypeError if it does not hold real numbers.
    """
    array = np.asarray(point)
    if array.dtype.kind not in "fiub":
        raise DtypeError(f"{name} must hold real numbers", expected="float32", got=array.dtype)
    if array.ndim not in (2, 3) or array.shape[-1] != 2:
        raise ShapeError(f"{name} must be (R, K, 2) or (K, 2): y, x", got=array.shape)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float32)


def is_list_of_points(point: ArrayLike | Sequence[ArrayLike]) -> TypeGuard[Sequence[Point]]:
    """Whether these are points of instances that may differ in number: a list of arrays (K, 2)."""
    return isinstance(point, list | tuple) and any(isinstance(each, np.ndarray) and each.ndim == 2 for each in point)
