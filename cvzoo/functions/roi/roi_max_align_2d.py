"""Regions by bilinear interpolation, the greatest sample of each cell."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.cuda.roi import Cells
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.array.transpose import transpose
from cvzoo.functions.roi.axis_samples import axis_samples
from cvzoo.functions.roi.cell_samples import CellSamples, cell_samples
from cvzoo.functions.roi.on_device import device_regions, is_on_device
from cvzoo.functions.roi.pick_channels import PickChannels
from cvzoo.functions.roi.regions import Sampling, checked_outsize, checked_regions, checked_sampling
from cvzoo.functions.roi.row_sums import RowSums


def greatest_samples(rows: Variable, samples: CellSamples, first_row: np.ndarray) -> Variable:
    """(M, C): of each cell and channel the greatest sample seen, 0 where none is.

    rows: (N, C) the maps' pixels
    first_row: (M,) the row of `rows` where a cell's map begins
    """
    m, s = samples.seen.shape
    places = (samples.places + first_row[:, None, None]).reshape(m * s, 4)
    values = RowSums(places, samples.weights.reshape(m * s, 4)).apply((rows,))[0]
    c = values.shape[1]
    seen = np.where(samples.seen[:, :, None], values.array.reshape(m, s, c), -np.inf)
    best = seen.argmax(axis=1)  # (M, C)
    best = np.where(samples.seen.any(axis=1)[:, None], best + np.arange(m)[:, None] * s, -1)
    picked = PickChannels(best[:, None, None]).apply((reshape(values, (1, m * s, 1, c)).transpose(0, 3, 1, 2),))[0]
    return reshape(picked, (m, c))


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
    oh, ow = checked_outsize(outsize, function=name)
    sy, sx = checked_sampling(sampling_ratio, function=name)
    if is_on_device(x):
        return device_regions(
            *((x,), rois, roi_indices, (spatial_scale,), (oh, ow), Cells.SAMPLES),
            function=name,
            sampling=(sy, sx),
            aligned=aligned,
            greatest=True,
        )
    regions = checked_regions(x, rois, roi_indices, spatial_scale, function=name)
    _, c, h, w = regions.x.shape
    y_min, x_min, y_max, x_max = regions.bbox.T
    rows = axis_samples(y_min, y_max, oh, sy, h, aligned)
    columns = axis_samples(x_min, x_max, ow, sx, w, aligned)
    pixels = reshape(transpose(regions.x, (0, 2, 3, 1)), (-1, c))
    first_row = np.repeat(regions.indices * h * w, oh * ow)
    y = greatest_samples(pixels, cell_samples(rows, columns, w), first_row)
    return transpose(reshape(y, (len(regions.bbox), oh, ow, c)), (0, 3, 1, 2))
