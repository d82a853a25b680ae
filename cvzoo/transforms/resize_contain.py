"""Fit a photo into a frame without ever enlarging it."""

import numpy as np

from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.crop import crop
from cvzoo.transforms.resize import Backend, Interpolation, resize


def resize_contain(
    img,
    size,
    *,
    fill=0,
    interpolation: Interpolation = "bilinear",
    backend: Backend = "pillow",
    return_param=False,
):
    """The photo in the middle of a frame, shrunk in proportion if it is larger than that, never enlarged.

    img: (C, H, W), any real dtype
    size: (H, W) of the frame
    fill: what is beside the photo, one number or one a channel
    Returns (C, *size) of the dtype that `resize` gives; with return_param also a dictionary of scaled_size, (H, W) of
    the photo in the frame, y_offset and x_offset: boxes follow by `resize_bbox` and `translate_bbox`.
    Raises ShapeError if img is not (C, H, W) or size no pair.
    """
    img = as_img(img)
    param = contain_frame(img.shape[1:], size)
    out = resize(img, param["scaled_size"], interpolation=interpolation, backend=backend)
    out = np.ascontiguousarray(crop(out, **frame_window(param, size), fill=fill))
    return (out, param) if return_param else out


def contain_frame(in_size, size):
    """A dictionary of scaled_size, y_offset and x_offset."""
    size = as_size(size)
    # the side that decides is met exactly, and parts of a pixel are cut off the other
    limit, now = min(((1, 1), *zip(size, in_size)), key=lambda pair: pair[0] / pair[1])
    scaled = tuple(max(limit * old // now, 1) for old in in_size)
    return {"scaled_size": scaled, "y_offset": (size[0] - scaled[0]) // 2, "x_offset": (size[1] - scaled[1]) // 2}


def frame_window(param, size):
    """The frame as a window around the shrunk photo: a dictionary of y_slice and x_slice."""
    y, x = param["y_offset"], param["x_offset"]
    return {"y_slice": slice(-y, size[0] - y), "x_slice": slice(-x, size[1] - x)}
