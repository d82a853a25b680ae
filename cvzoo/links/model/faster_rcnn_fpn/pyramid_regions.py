"""What the maps of a pyramid say about regions: each region looks at the level of its size."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.functions.roi.roi_average_align_2d import roi_average_align_levels


def region_levels(bbox: Any, strides: Sequence[int]) -> Any:
    """(R,) int64 (int32 on a GPU), which of the maps each box (R, 4) looks at: one of side 224 at that of stride 16.

    Where maps share a stride, the first of them is looked at.
    Source: Lin et al., Feature Pyramid Networks, CVPR 2017, equation 1, in float32 with 1e-6 added to the logarithm.
    """
    first, last = round(np.log2(strides[0])), round(np.log2(strides[-1]))
    return backend_of(bbox).region_levels(bbox, first, last)


def pyramid_regions(
    maps: Sequence[Any],
    bbox: np.ndarray,
    photo: np.ndarray,
    strides: Sequence[int],
    *,
    size: int,
    sampling_ratio: int | None = 2,
    aligned: bool = False,
) -> Variable:
    """(R, C, size, size): the inside of each box, from the map of its level.

    maps: (B, C, H, W) each, the finest first; there may be more than strides
    bbox: (R, 4) float32, pixels of the network's input; photo: (R,) int32, which of the B each lies in
    sampling_ratio, aligned: as in `roi_average_align_2d`
    """
    scales = [1 / stride for stride in strides]
    level = region_levels(bbox, strides)
    return roi_average_align_levels(maps, bbox, photo, level, size, scales, sampling_ratio, aligned=aligned)
