"""Maxima of regions that are written as Fast R-CNN's code wrote them, by Chainer's older name."""

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.roi.roi_max_pooling_2d import roi_max_pooling_2d
from cvzoo.typing.aliases import Array


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
