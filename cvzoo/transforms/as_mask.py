"""The argument checks of public functions that take instance masks or label maps."""

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.typing.aliases import ArrayLike, ClassMap, Mask


def as_mask(mask: ArrayLike) -> Mask:
    """The array itself if it is (R, H, W) bool with H, W > 0. Raises ShapeError or DtypeError."""
    mask = np.asarray(mask)
    if mask.ndim != 3 or mask.shape[1] == 0 or mask.shape[2] == 0:
        raise ShapeError("mask must be (R, H, W) with at least one pixel", got=mask.shape)
    if mask.dtype != bool:
        raise DtypeError("mask must be bool", got=mask.dtype, hint="mask != 0")
    return mask


def as_label_map(label: ArrayLike) -> ClassMap:
    """The array itself if it is (H, W) of integers with at least one pixel. Raises ShapeError or DtypeError."""
    label = np.asarray(label)
    if label.ndim != 2 or label.size == 0:
        raise ShapeError("a label map must be (H, W) with at least one pixel", got=label.shape)
    if label.dtype.kind not in "iu":
        raise DtypeError("a label map must hold integers", expected="int32, -1 for ignored pixels", got=label.dtype)
    return label
