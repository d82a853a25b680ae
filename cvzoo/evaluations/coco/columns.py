"""Checks of columns, with errors that name the first malformed record."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array, ArrayLike


def as_column(name: str, values: ArrayLike, dtype: npt.DTypeLike, shape: Sequence[int]) -> Array:
    """The values as an array of the given dtype and shape; -1 in the shape stands for any length.

    Raises ShapeError or DtypeError, and ValueRangeError with the index of the first NaN or infinity.
    """
    array = np.asarray(values)
    if not array.size and array.ndim < len(shape):
        array = array.reshape(tuple(max(length, 0) for length in shape))
    if array.ndim != len(shape) or any(want not in (-1, got) for got, want in zip(array.shape, shape)):
        raise ShapeError(f"{name} has the wrong shape", expected=str(shape).replace("-1", "any"), got=array.shape)
    if array.size and array.dtype.kind not in {"i": "iub", "f": "iuf", "b": "biu"}[np.dtype(dtype).kind]:
        raise DtypeError(f"{name} has the wrong dtype", expected=np.dtype(dtype).name, got=array.dtype)
    array = array.astype(dtype, copy=False)
    if array.dtype.kind == "f":
        records, _, field = name.partition(": ")
        refuse_first(records, field, array, ~np.isfinite(array), "a finite number")
    return array


def check_xywh(records: str, bbox: Array) -> None:
    """Raises ValueRangeError that names the first box, if any, of negative size or with a corner that overflows.

    bbox: (N, 4) float64: x, y, width, height, finite
    """
    refuse_first(
        records,
        "bbox",
        bbox,
        np.any(bbox[:, 2:] < 0, axis=1),
        "no negative width or height",
        hint="x, y, width, height",
    )
    with np.errstate(over="ignore"):
        far = ~np.isfinite(bbox[:, :2] + bbox[:, 2:]).all(axis=1) | ~np.isfinite(bbox[:, 2] * bbox[:, 3])
    refuse_first(records, "bbox", bbox, far, "numbers of pixels")


def refuse_first(
    records: str, field: str, values: Array, wrong: Array, expected: str, *, hint: str | None = None
) -> None:
    """Raises ValueRangeError that names the first wrong record, if any.

    wrong: (N,) bool, or bool in the shape of the values
    """
    if wrong.any():
        index = int(np.argwhere(wrong)[0][0])
        more = np.unique(np.argwhere(wrong)[:, 0]).size - 1
        raise ValueRangeError(
            f"{records}[{index}].{field} is invalid" + (f" (and {more} more)" if more else ""),
            expected=expected,
            got=values[index].tolist(),
            hint=hint,
        )
