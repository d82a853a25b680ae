"""What functions of regions check of their arguments."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.backends.arrays import is_array, range_of
from cvzoo.backends.float_types import is_float
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.shapes.check import pair

Sampling = int | Sequence[int] | None
# (C, OH, OW), or (OH, OW) or one number for both where the map's channels say C
PlacedOutsize = int | Sequence[int]


def checked_maps(x: Any, rois: Any, roi_indices: Any, *, function: str) -> Variable:
    """The maps, of which the regions are; values that lie on a GPU are not looked at.

    Raises ShapeError, DtypeError or ValueRangeError if they do not fit together.
    """
    x = as_variable(x)
    rois, indices = (each if is_array(each) else np.asarray(each) for each in (as_array(rois), as_array(roi_indices)))
    if x.ndim != 4:
        raise ShapeError(f"{function}: x must be feature maps", expected="(B, C, H, W)", got=x.shape)
    if not is_float(x.dtype):
        raise DtypeError(f"{function}: x must hold floats", got=x.dtype)
    if 0 in x.shape[2:]:
        raise ShapeError(f"{function}: x has no pixels", got=x.shape)
    if rois.ndim != 2 or rois.shape[1] != 4 or indices.shape != rois.shape[:1]:
        raise ShapeError(
            f"{function}: wants one index for each region",
            expected="rois (R, 4), roi_indices (R,)",
            got=f"rois {rois.shape}, roi_indices {indices.shape}",
        )
    if len(rois) and indices.dtype.kind not in "iu":
        raise DtypeError(f"{function}: roi_indices must be whole numbers", got=indices.dtype)
    found = range_of(indices)
    if found and not (found[0] >= 0 and found[1] < x.shape[0]):
        raise ValueRangeError(
            f"{function}: roi_indices must name a map of the batch",
            expected=f"0 .. {x.shape[0] - 1}",
            got=f"{found[0]} .. {found[1]}",
        )
    return x


def checked_boxes(rois: Any, *, function: str) -> Any:
    """The boxes; those of a GPU are not looked at. Raises ValueRangeError unless float32 holds all their numbers."""
    rois = rois if is_array(rois) else np.asarray(rois)
    found = range_of(rois)
    if found and not (np.isfinite(np.float32(found[0])) and np.isfinite(np.float32(found[1]))):
        finite = np.isfinite(rois.astype(np.float32)).all(axis=1)
        raise ValueRangeError(f"{function}: rois must be finite", got=rois[~finite][0])
    return rois


def checked_outsize(outsize: int | Sequence[int], *, function: str) -> tuple[int, int]:
    """(OH, OW). Raises ShapeError if one is below 1."""
    size = pair(outsize, name="outsize", function=function)
    if min(size) < 1:
        raise ShapeError(f"{function}: outsize must be positive", got=size)
    return size


def checked_sampling(sampling_ratio: Sampling, *, function: str) -> tuple[int, int]:
    """Samples (rows, columns) in a cell; 0 for as many as the cell has pixels. Raises ValueRangeError below 0."""
    if sampling_ratio is None:
        return 0, 0
    if isinstance(sampling_ratio, tuple | list):
        sampling_ratio = [0 if each is None else each for each in sampling_ratio]
    sampling = pair(sampling_ratio, name="sampling_ratio", function=function)
    if min(sampling) < 0:
        raise ValueRangeError(f"{function}: sampling_ratio must not be negative", got=sampling)
    return sampling


def checked_placed_outsize(x: Any, outsize: PlacedOutsize, group_size: int, *, function: str) -> tuple[int, int]:
    """OH and OW of outsize. Raises DtypeError or ShapeError unless it fits position-sensitive maps x."""
    size = tuple(outsize) if isinstance(outsize, Sequence) else (outsize, outsize)
    if len(size) not in (2, 3):
        raise DtypeError(f"{function}: outsize must be (channels, rows, columns)", got=repr(outsize))
    oh, ow = checked_outsize(size[-2:], function=function)
    g = group_size
    groups = max(g, 1) ** 2
    c = size[0] if len(size) == 3 else x.shape[1] // groups
    if type(c) is bool or not isinstance(c, int | np.integer):
        raise DtypeError(f"{function}: outsize must be (channels, rows, columns)", got=repr(outsize))
    if g < 1 or c < 1 or x.shape[1] != c * groups:
        expected = c * groups if len(size) == 3 else f"a multiple of {groups}"
        raise ShapeError(
            f"{function}: x must have outsize[0] * group_size ** 2 channels", expected=expected, got=x.shape[1]
        )
    return oh, ow
