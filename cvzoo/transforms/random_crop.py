"""Cut a window of a given size out of a photo, anywhere."""

from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.center_crop import check_fits


def random_crop(img, size, *, return_param=False, rng=None):
    """A window of the photo, every place equally likely; a new contiguous array.

    img: (C, H, W), any dtype
    size: (H, W) to cut out
    rng: where to draw from; None is this thread's generator
    Returns (C, *size); with return_param also a dictionary of y_slice and x_slice.
    Raises ShapeError if img is not (C, H, W) or smaller than size.
    """
    img = as_img(img)
    param = draw_window(img.shape[1:], size, as_rng(rng))
    cropped = img[:, param["y_slice"], param["x_slice"]].copy()
    return (cropped, param) if return_param else cropped


def draw_window(in_size, size, rng):
    """A dictionary of y_slice and x_slice. Raises ShapeError if size is larger than in_size."""
    height, width = size = as_size(size)
    check_fits(in_size, size)
    y, x = int(rng.integers(in_size[0] - height + 1)), int(rng.integers(in_size[1] - width + 1))
    return {"y_slice": slice(y, y + height), "x_slice": slice(x, x + width)}
