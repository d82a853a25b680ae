"""Cut the middle out of a photo."""

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_img import as_img


def center_crop(img, size):
    """The middle of the photo, a new contiguous array; an odd margin leaves the larger half below and at the right.

    img: (C, H, W), any dtype
    size: (H, W) to cut out
    Raises ShapeError if img is not (C, H, W) or smaller than size.
    """
    img = as_img(img)
    height, width = as_size(size)
    y, x = (img.shape[1] - height) // 2, (img.shape[2] - width) // 2
    if y < 0 or x < 0:
        raise ShapeError(
            "the photo is smaller than the crop",
            expected=f"at least {(height, width)}",
            got=img.shape[1:],
            hint="scale(img, short=...) first",
        )
    return img[:, y : y + height, x : x + width].copy()
