"""The argument check of every public function that takes boxes."""

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.typing.aliases import ArrayLike, BBox


def as_bbox(bbox: ArrayLike, name: str = "bbox") -> BBox:
    """The boxes as a floating-point (R, 4) array: the array itself if it is one, else a float32 copy.

    bbox: (R, 4) of any real dtype, or a list of four-tuples; an empty list is (0, 4)
    Raises ShapeError if it is not (R, 4), DtypeError if it does not hold real numbers.
    """
    array = np.asarray(bbox)
    if array.dtype.kind not in "fiub":
        raise DtypeError(f"{name} must hold real numbers", expected="float32", got=array.dtype)
    if array.ndim == 1 and array.size == 0:
        array = array.reshape(0, 4)
    if array.ndim != 2 or array.shape[1] != 4:
        hint = None
        if array.shape == (4,):
            hint = f"{name}[None] for a single box"
        elif array.ndim == 2 and array.shape[0] == 4:
            hint = f"{name}.T"
        raise ShapeError(f"{name} must be (R, 4): y_min, x_min, y_max, x_max", got=array.shape, hint=hint)
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float32)
    return array
