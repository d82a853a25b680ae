"""Computed in floats, returned as it came."""

import numpy as np


def keep_dtype(img, dtype):
    """The float32 array in another dtype: rounded and clipped to what it holds if that is of integers.

    img: any shape, float32; it may be overwritten
    """
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        np.rint(img, out=img)
        np.clip(img, limits.min, limits.max, out=img)
    return img.astype(dtype, copy=False)
