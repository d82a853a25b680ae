"""Areas of bounding boxes."""

from cvzoo.backends.numpy.suppression import box_area
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.typing.aliases import Area, ArrayLike


def bbox_area(bbox: ArrayLike) -> Area:
    """Area of each box: height times width, without the "+1" of inclusive pixels.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels
    Returns (R,) float32 (float64 for float64 boxes), square pixels; 0 for a box that is empty or inverted.
    Raises ShapeError if bbox is not (R, 4).
    """
    return box_area(as_bbox(bbox))
