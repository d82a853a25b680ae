"""Conversion of float32 results back to the dtype of the input."""

from typing import Any

import numpy as np

from cvzoo.typing.aliases import Image


def keep_dtype(img: Image, dtype: np.dtype[Any]) -> Image:
    """The float32 array in another dtype: rounded and clipped to its range if it is an integer dtype.

    img: any shape, float32; it may be overwritten
    """
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        np.rint(img, out=img)
        np.clip(img, limits.min, limits.max, out=img)
    return img.astype(dtype, copy=False)
