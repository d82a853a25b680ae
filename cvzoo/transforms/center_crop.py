"""Cut the middle out of a photo."""

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_img import as_img


def center_crop(img, size, *, return_param=False):
    """The middle of the photo, a new contiguous array; half a pixel of margin is rounded to even.

    img: (C, H, W), any dtype
    size: (H, W) to cut out
    Returns (C, *size); with return_param also a dictionary of y_slice and x_slice.
    Raises ShapeError if img is not (C, H, W) or smaller than size.
    Source: ChainerCV's and torchvision's functions of this name, which round alike.
    """
    img = as_img(img)
    param = center_window(img.shape[1:], size)
    cropped = img[:, param["y_slice"], param["x_slice"]].copy()
    return (cropped, param) if return_param else cropped


def center_window(in_size, size):
    """The dictionary of y_slice and x_slice of the middle. Raises ShapeError if it is larger than in_size."""
    height, width = size = as_size(size)
    check_fits(in_size, size)
    y, x = round((in_size[0] - height) / 2), round((in_size[1] - width) / 2)
    return {"y_slice": slice(y, y + height), "x_slice": slice(x, x + width)}


def check_fits(in_size, size):
    """Nothing, or ShapeError if a crop of size (H, W) does not fit into a photo of in_size."""
    if in_size[0] < size[0] or in_size[1] < size[1]:
        raise ShapeError(
            "the photo is smaller than the crop",
            expected=f"at least {tuple(size)}",
            got=tuple(in_size),
            hint="scale(img, short=...) first",
        )
