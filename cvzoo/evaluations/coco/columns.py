"""Checks of columns that name the first record at fault."""

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError


def as_column(name, values, dtype, shape):
    """The values as an array of this dtype and shape; -1 in the shape stands for any length.

    Raises ShapeError or DtypeError, and ValueRangeError with the index of the first NaN or infinity.
    """
    array = np.asarray(values)
    if not array.size and array.ndim < len(shape):
        array = array.reshape(tuple(max(length, 0) for length in shape))
    if array.ndim != len(shape) or any(want not in (-1, got) for got, want in zip(array.shape, shape)):
        raise ShapeError(name, expected=str(shape).replace("-1", "any"), got=array.shape)
    if array.size and array.dtype.kind not in {"i": "iub", "f": "iuf", "b": "biu"}[np.dtype(dtype).kind]:
        raise DtypeError(name, expected=np.dtype(dtype).name, got=array.dtype)
    array = array.astype(dtype, copy=False)
    if array.dtype.kind == "f":
        records, _, field = name.partition(": ")
        refuse_first(records, field, array, ~np.isfinite(array), "a finite number")
    return array


def check_xywh(records, bbox):
    """Raise ValueRangeError that names the first box whose size is negative, or that ends beyond all numbers, if any.

    bbox: (N, 4) float64: x, y, width, height, finite
    """
    refuse_first(
        records, "bbox", bbox, (bbox[:, 2:] < 0).any(axis=1), "no negative width or height", hint="x, y, width, height"
    )
    with np.errstate(over="ignore"):
        far = ~np.isfinite(bbox[:, :2] + bbox[:, 2:]).all(axis=1) | ~np.isfinite(bbox[:, 2] * bbox[:, 3])
    refuse_first(records, "bbox", bbox, far, "numbers of pixels")


def refuse_first(records, field, values, wrong, expected, *, hint=None):
    """Raise ValueRangeError that names the first record which is wrong, if any is.

    wrong: bool, as long as the values, or of their shape
    """
    if wrong.any():
        index = int(np.argwhere(wrong)[0][0])
        more = np.unique(np.argwhere(wrong)[:, 0]).size - 1
        raise ValueRangeError(
            f"{records}[{index}].{field}" + (f" (and {more} more)" if more else ""),
            expected=expected,
            got=values[index].tolist(),
            hint=hint,
        )
