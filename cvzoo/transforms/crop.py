"""Crop an image; the window may extend outside of the image, which pads it."""

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.transforms.as_img import as_img
from cvzoo.typing.aliases import ArrayLike, Image


class Slices(TypedDict):
    """A window of an image as the keyword arguments of `crop`."""

    y_slice: slice
    x_slice: slice


def crop(img: Image, *, y_slice: slice, x_slice: slice, fill: ArrayLike = 0) -> Image:
    """A window of the image, a new array in the memory format of img, padded with fill outside of the image.

    img: (C, H, W), any dtype
    y_slice, x_slice: start and stop in pixels of the image; start may be negative and stop beyond the image: both are
        coordinates and never count from the end
    fill: one value, or one per channel
    Returns (C, H', W') of the same dtype.
    Raises ShapeError if img is not (C, H, W), the window is empty, or the length of fill is not 1 or C.
    """
    out = window(img, y_slice, x_slice, fill)
    return out.copy("K") if np.shares_memory(out, img) else out


def window(img: Image, y_slice: slice, x_slice: slice, fill: ArrayLike) -> Image:
    """As `crop`, but a view of img if there is no padding."""
    img = as_img(img)
    (top, bottom), (left, right) = y_slice_stop = (y_slice.start, y_slice.stop), (x_slice.start, x_slice.stop)
    _, height, width = img.shape
    if top >= bottom or left >= right:
        raise ShapeError("the crop window is empty", got=y_slice_stop)
    inner_y = slice(min(max(top, 0), height), max(min(bottom, height), 0))
    inner_x = slice(min(max(left, 0), width), max(min(right, width), 0))
    inside = img[:, inner_y, inner_x]
    if inside.shape[1:] == (bottom - top, right - left):
        return inside
    out = filled(img, (bottom - top, right - left), fill)
    if inside.size:
        y, x = inner_y.start - top, inner_x.start - left
        out[:, y : y + inside.shape[1], x : x + inside.shape[2]] = inside
    return out


def filled(img: Image, size: Sequence[int], fill: ArrayLike) -> Image:
    """(C, *size) in the dtype and memory format of img, filled with fill."""
    values = np.asarray(fill).reshape(-1)
    if len(values) not in (1, len(img)):
        raise ShapeError("fill must be one value or one per channel", expected=(len(img),), got=values.shape)
    values = values.astype(img.dtype)
    # images decoded by Pillow or OpenCV are channels-last in memory, and these accept that format without a copy
    if img.strides[0] < img.strides[2]:
        out = np.empty((*size, len(img)), img.dtype).transpose(2, 0, 1)
        row = out.transpose(1, 2, 0)[0]
        row[...] = values
        out.transpose(1, 2, 0)[1:] = row
        return out
    out = np.empty((len(img), *size), img.dtype)
    out[...] = values[:, None, None]
    return out
