"""Fit an image into a given size by shrinking and padding, never enlarging it."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np

from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.crop import Slices, crop
from cvzoo.transforms.resize import Backend, Interpolation, resize
from cvzoo.typing.aliases import ArrayLike, Image


@overload
def resize_contain(
    img: Image,
    size: Sequence[int],
    fill: ArrayLike = ...,
    interpolation: Interpolation | int = ...,
    return_param: Literal[False] = False,
    *,
    backend: Backend = ...,
) -> Image: ...
@overload
def resize_contain(
    img: Image,
    size: Sequence[int],
    fill: ArrayLike = ...,
    interpolation: Interpolation | int = ...,
    *,
    backend: Backend = ...,
    return_param: Literal[True],
) -> tuple[Image, dict[str, Any]]: ...
def resize_contain(
    img: Image,
    size: Sequence[int],
    fill: ArrayLike = 0,
    interpolation: Interpolation | int = "bilinear",
    return_param: bool = False,
    *,
    backend: Backend = "pillow",
) -> Image | tuple[Image, dict[str, Any]]:
    """The image centered in a frame of the given size, shrunk with its aspect ratio if it is larger, never enlarged.

    img: (C, H, W), any real dtype
    size: (H, W) of the frame
    fill: value of the padding, one or one per channel
    Returns (C, *size) in the dtype of `resize`; with return_param, also a dictionary of scaled_size, (H, W) of the
    image in the frame, y_offset and x_offset: transform the boxes by `resize_bbox` and `translate_bbox`.
    Raises ShapeError if img is not (C, H, W) or size is not a pair.
    """
    img = as_img(img)
    param = contain_frame(img.shape[1:], size)
    out = resize(img, param["scaled_size"], interpolation=interpolation, backend=backend)
    out = np.ascontiguousarray(crop(out, **frame_window(param, size), fill=fill))
    return (out, param) if return_param else out


def contain_frame(in_size: Sequence[int], size: Sequence[int]) -> dict[str, Any]:
    """Size and position of the image in the frame: a dictionary of scaled_size, y_offset and x_offset."""
    size = as_size(size)
    # the limiting side is exact, and the other one is rounded down
    limit, now = min(((1, 1), *zip(size, in_size)), key=lambda pair: pair[0] / pair[1])
    scaled = tuple(max(limit * old // now, 1) for old in in_size)
    return {"scaled_size": scaled, "y_offset": (size[0] - scaled[0]) // 2, "x_offset": (size[1] - scaled[1]) // 2}


def frame_window(param: Mapping[str, Any], size: Sequence[int]) -> Slices:
    """The frame as a crop window around the shrunk image: a dictionary of y_slice and x_slice."""
    y, x = param["y_offset"], param["x_offset"]
    return {"y_slice": slice(-y, size[0] - y), "x_slice": slice(-x, size[1] - x)}
