"""Cut a window out of a photo; what the window has beyond the photo is filled."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.transforms.as_img import as_img


def crop(img, *, y_slice, x_slice, fill=0):
    """The window of the photo, a new array in the memory order of img; where it reaches beyond the photo it is fill.

    img: (C, H, W), any dtype
    y_slice, x_slice: start and stop in pixels of the photo; start may be negative and stop beyond the photo, both
        mean places and never count from the end
    fill: one number, or one a channel
    Returns (C, H', W') of the same dtype.
    Raises ShapeError if img is not (C, H, W), the window is empty, or the fill does not fit the channels.
    """
    out = window(img, y_slice, x_slice, fill)
    return out.copy("K") if np.shares_memory(out, img) else out


def window(img, y_slice, x_slice, fill):
    """As `crop`, but a view of img where nothing is to be filled."""
    img = as_img(img)
    (top, bottom), (left, right) = y_slice_stop = (y_slice.start, y_slice.stop), (x_slice.start, x_slice.stop)
    _, height, width = img.shape
    if top >= bottom or left >= right:
        raise ShapeError("the window is empty", got=y_slice_stop)
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


def filled(img, size, fill):
    """(C, *size) of the dtype and memory order of img, each channel its fill."""
    values = np.asarray(fill).reshape(-1)
    if len(values) not in (1, len(img)):
        raise ShapeError("fill must be one number or one a channel", expected=(len(img),), got=values.shape)
    values = values.astype(img.dtype)
    # a photo that Pillow or OpenCV decoded lies (H, W, C) in memory, and they take it back without a copy
    if img.strides[0] < img.strides[2]:
        out = np.empty((*size, len(img)), img.dtype).transpose(2, 0, 1)
        row = out.transpose(1, 2, 0)[0]
        row[...] = values
        out.transpose(1, 2, 0)[1:] = row
        return out
    out = np.empty((len(img), *size), img.dtype)
    out[...] = values[:, None, None]
    return out
