"""Preprocessing of images by our own kernel: bytes to float32, resized, normalized, in one pass."""

import ctypes
import functools

import numpy as np

from cvzoo.backends.arrays import numpy_address
from cvzoo.backends.image_plan import ImagePlan, Three
from cvzoo.backends.native.library import native
from cvzoo.backends.native.plans import PreparePlan
from cvzoo.backends.openmp import threads_now

Taps = tuple[np.ndarray, np.ndarray]
_Arrays = ctypes.c_void_p * 8
_NONE = (None, None)


@functools.lru_cache(64)
def _in_a_row(mean: Three, std: Three, width: int) -> Taps:
    """mean and std of each value of a row of `width` pixels."""
    return np.tile(np.array(mean, np.float32), width), np.tile(np.array(std, np.float32), width)


def prepare_natively(
    image: np.ndarray, plan: ImagePlan, out: np.ndarray, rows: Taps | None, columns: Taps | None
) -> None:
    """Resize and normalize an image into `out`; the library must be there.

    image: (3, H, W) uint8 or float32
    out: (3, H', W') float32, channels-last: the part of the plan's resized image that is in the frame
    rows: (T, n) int32 and float32, the input rows of each row and their weights; None: the axis is not resized
    columns: (T, 3 n), the same for each value of a row
    Raises MemoryError if there is none for the strips.
    """
    library = native()
    assert library is not None
    top, left = (max(-start, 0) for start in plan.offset)
    _, height, width = image.shape
    mean, std = _in_a_row(plan.mean, plan.std, max(width, out.shape[2]))
    native_plan = PreparePlan(
        height,
        width,
        *(step // image.itemsize for step in image.strides),
        image.dtype == np.uint8,
        any(plan.mean),
        any(value != 1 for value in plan.std),
        plan.before,
        0 if rows is None else len(rows[0]),
        0 if columns is None else len(columns[0]),
        *plan.resized,
        top,
        out.shape[1],
        left,
        out.shape[2],
        *(step // out.itemsize for step in out.strides[1:]),
        plan.factor,
        plan.divisor,
        plan.shift,
    )
    tables = [numpy_address(each) if each is not None else None for each in (*(rows or _NONE), *(columns or _NONE))]
    arrays = _Arrays(numpy_address(image), numpy_address(out), *tables, numpy_address(mean), numpy_address(std))
    if library.kernels["prepare"](ctypes.addressof(native_plan), arrays, threads_now()[0]):
        raise MemoryError
