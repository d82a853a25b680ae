"""Center crop of an image."""

from collections.abc import Sequence
from typing import Literal, overload

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.crop import Slices
from cvzoo.typing.aliases import Image


@overload
def center_crop(img: Image, size: Sequence[int], return_param: Literal[False] = False) -> Image: ...
@overload
def center_crop(img: Image, size: Sequence[int], return_param: Literal[True]) -> tuple[Image, Slices]: ...
def center_crop(img: Image, size: Sequence[int], return_param: bool = False) -> Image | tuple[Image, Slices]:
    """The center of the image, a new contiguous array; half a pixel of margin is rounded to even.

    img: (C, H, W), any dtype
    size: (H, W) to cut out
    Returns (C, *size); with return_param, also a dictionary of y_slice and x_slice.
    Raises ShapeError if img is not (C, H, W) or smaller than size.
    Source: ChainerCV's and torchvision's functions of this name, which round in the same way.
    """
    img = as_img(img)
    param = center_window(img.shape[1:], size)
    cropped = img[:, param["y_slice"], param["x_slice"]].copy()
    return (cropped, param) if return_param else cropped


def center_window(in_size: Sequence[int], size: Sequence[int]) -> Slices:
    """The dictionary of y_slice and x_slice of the center crop. Raises ShapeError if it is larger than in_size."""
    height, width = size = as_size(size)
    check_fits(in_size, size)
    y, x = round((in_size[0] - height) / 2), round((in_size[1] - width) / 2)
    return {"y_slice": slice(y, y + height), "x_slice": slice(x, x + width)}


def check_fits(in_size: Sequence[int], size: Sequence[int]) -> None:
    """Raises ShapeError if a crop of size (H, W) does not fit into an image of in_size."""
    if in_size[0] < size[0] or in_size[1] < size[1]:
        raise ShapeError(
            "the image is smaller than the crop",
            expected=f"at least {tuple(size)}",
            got=tuple(in_size),
            hint="scale(img, short=...) first",
        )
