"""Means over the cells of regions by our own kernel, which passes over weights of 0."""

import ctypes

import numpy as np

from cvzoo.backends.arrays import numpy_address
from cvzoo.backends.native.library import native
from cvzoo.backends.native.plans import RegionMeansPlan
from cvzoo.backends.openmp import threads_now

_CHANNELS = 16  # they are a multiple of it: a register full, or two
_Arrays = ctypes.c_void_p * 8


def means_natively(
    x: np.ndarray,
    y: np.ndarray,
    place: np.ndarray,
    image: np.ndarray,
    rows: tuple[np.ndarray, np.ndarray],
    columns: tuple[np.ndarray, np.ndarray],
) -> bool:
    """Whether the means of R' regions were written to y; False if NumPy must compute them.

    x: (B, C, H, W), y: (R, C, OH, OW), both channels-last
    place, image: (R',) int64, of each region in y and in x
    rows: of each region the first row of its window (R',), and the weights of each cell's rows (R', OH, longest), 0
        beyond the window
    columns: the same of columns
    """
    library = native()
    _, c, h, w = x.shape
    pixels, cells = x.transpose(0, 2, 3, 1), y.transpose(0, 2, 3, 1)
    if library is None or c % _CHANNELS or any(a.dtype != np.float32 or not a.flags.carray for a in (pixels, cells)):
        return False
    starts = [np.ascontiguousarray(each, np.int64) for each in (place, image, rows[0], columns[0])]
    weights = [np.ascontiguousarray(each, np.float32) for each in (rows[1], columns[1])]
    plan = RegionMeansPlan(len(place), h, w, c, *y.shape[2:], weights[0].shape[2], weights[1].shape[2])
    arrays = _Arrays(*map(numpy_address, (pixels, *weights, *starts, cells)))
    if library.kernels["region_means"](ctypes.addressof(plan), arrays, threads_now()[0]):
        raise MemoryError
    return True
