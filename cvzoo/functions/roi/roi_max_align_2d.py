"""Regions by bilinear interpolation, the greatest sample of each cell."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.regions import Cells
from cvzoo.functions.roi.checks import Sampling, checked_outsize, checked_sampling
from cvzoo.functions.roi.regions_of_maps import regions_of_maps


def roi_max_align_2d(
    x: Any,
    rois: Any,
    roi_indices: Any,
    outsize: int | Sequence[int],
    spatial_scale: float,
    sampling_ratio: Sampling = None,
    *,
    aligned: bool = False,
) -> Variable:
    """(R, C, OH, OW): the inside of each region, each cell the greatest of a few bilinear samples.

    Arguments and errors as for `roi_average_align_2d`. A sample a pixel or more beside the map does not count; a cell
    without any is 0. The gradient goes to the first of the greatest.

    Source: He et al., "Mask R-CNN", 2017, section 3, with maxima for means, as in Chainer.
    """
    name = "roi_max_align_2d"
    return regions_of_maps(
        *((x,), rois, roi_indices, (spatial_scale,), checked_outsize(outsize, function=name), Cells.SAMPLES),
        function=name,
        sampling=checked_sampling(sampling_ratio, function=name),
        aligned=aligned,
        greatest=True,
    )
