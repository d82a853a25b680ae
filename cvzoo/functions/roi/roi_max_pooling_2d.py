"""RoI max pooling and RoI max align."""

from collections.abc import Sequence

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.regions import Cells
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.roi.regions_of_maps import Sampling, checked_outsize, checked_sampling, regions_of_maps
from cvzoo.typing.aliases import Array


def roi_max_align_2d(
    x: Variable | Array,
    rois: Variable | Array,
    roi_indices: Variable | Array,
    outsize: int | Sequence[int],
    spatial_scale: float,
    sampling_ratio: Sampling = None,
    *,
    aligned: bool = False,
) -> Variable:
    """RoI max align: (R, C, OH, OW), the maximum of a few bilinear samples in each cell of a region.

    Arguments and errors as for `roi_average_align_2d`. Samples a pixel or more outside of the map are ignored; a cell
    without samples is 0. The gradient goes to the first maximum.

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


def roi_max_pooling_2d(
    x: Variable | Array,
    rois: Variable | Array,
    roi_indices: Variable | Array,
    outsize: int | Sequence[int],
    spatial_scale: float,
    *,
    inclusive: bool = False,
) -> Variable:
    """RoI max pooling: (R, C, OH, OW), the maximum of the pixels in each cell of a region; 0 for empty cells.

    x: (B, C, H, W)
    rois: (R, 4) float32, y_min x_min y_max x_max, pixels of the image; no gradient is taken of them
    roi_indices: (R,) int32, index of the map of each region
    outsize: OH and OW, a number or (rows, columns)
    spatial_scale: map pixels per image pixel, such as 1 / 16
    inclusive: the pixel at y_max and x_max belongs to the region, as in Caffe, torchvision and Chainer's older
        `roi_pooling_2d`; False as in Chainer's `roi_max_pooling_2d`
    Edges are rounded to pixels, halves away from zero; a region has at least one pixel; cells may overlap by one pixel.
    The gradient goes to the first maximum.
    Raises ShapeError, DtypeError or ValueRangeError if the arrays do not fit together.

    Source: Girshick, "Fast R-CNN", 2015, section 2.1.
    """
    name = "roi_max_pooling_2d"
    size = checked_outsize(outsize, function=name)
    cells = Cells.ROUNDED_INCLUSIVE if inclusive else Cells.ROUNDED
    return regions_of_maps((x,), rois, roi_indices, (spatial_scale,), size, cells, function=name, greatest=True)


@on_device_of_arguments
def roi_pooling_2d(x: Variable | Array, rois: Variable | Array, outh: int, outw: int, spatial_scale: float) -> Variable:
    """(R, C, outh, outw): `roi_max_pooling_2d(..., inclusive=True)` of regions with their image's index in front.

    x: (B, C, H, W)
    rois: (R, 5) floating: image index, x_min, y_min, x_max, y_max, in this order, pixels of the image
    outh, outw: parts along each axis
    spatial_scale: pixels of the map for one of the image
    Raises ShapeError, DtypeError or ValueRangeError if the arrays do not fit together.
    """
    rois = as_array(rois)
    backend_of(rois)
    if rois.ndim != 2 or rois.shape[1] != 5:
        raise ShapeError("roi_pooling_2d: rois must be (R, 5): image index, x_min, y_min, x_max, y_max", got=rois.shape)
    boxes = rois[:, [2, 1, 4, 3]]
    return roi_max_pooling_2d(x, boxes, rois[:, 0].astype("int32"), (outh, outw), spatial_scale, inclusive=True)
