"""The regions of a batch, checked at the door of a function."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.float_types import is_float
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.shapes.check import pair

Sampling = int | Sequence[int] | None


class Regions(NamedTuple):
    """Feature maps and boxes on them."""

    x: Variable  # (B, C, H, W)
    bbox: np.ndarray  # (R, 4) float32, y_min x_min y_max x_max, in pixels of the feature map
    indices: np.ndarray  # (R,) which of the B maps each lies on


def checked_regions(x: Any, rois: Any, roi_indices: Any, spatial_scale: float, *, function: str) -> Regions:
    """The regions with their boxes scaled to the map.

    Raises ShapeError, DtypeError or ValueRangeError if they do not fit together.
    """
    x, rois, indices = checked_maps(x, rois, roi_indices, function=function)
    rois, indices = np.asarray(rois), np.asarray(indices)
    bbox = rois.astype(np.float32) * np.float32(spatial_scale)
    if not np.isfinite(bbox).all():
        raise ValueRangeError(f"{function}: rois must be finite", got=rois[~np.isfinite(bbox).all(axis=1)][0])
    return Regions(x, bbox, indices.astype(np.intp))


def checked_maps(x: Any, rois: Any, roi_indices: Any, *, function: str) -> tuple[Variable, Any, Any]:
    """The maps, and the arrays of the regions; values that lie on a GPU are not looked at.

    Raises ShapeError, DtypeError or ValueRangeError if they do not fit together.
    """
    x, rois, indices = as_variable(x), as_array(rois), as_array(roi_indices)
    rois, indices = (each if is_device_array(each) else np.asarray(each) for each in (rois, indices))
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
    if len(rois) and not is_device_array(indices) and not (indices.min() >= 0 and indices.max() < x.shape[0]):
        raise ValueRangeError(
            f"{function}: roi_indices must name a map of the batch",
            expected=f"0 .. {x.shape[0] - 1}",
            got=f"{indices.min()} .. {indices.max()}",
        )
    return x, rois, indices


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
