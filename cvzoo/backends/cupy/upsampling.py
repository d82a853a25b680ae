"""Pixels put back where a max pooling took them from, and taken from there; places outside of the plane are left out,
and give 0."""

from typing import Any

import numpy as np

from cvzoo.backends.abstract import Pair
from cvzoo.backends.cuda.scatter import add_pixels, take_pixels
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.cupy.memory import zeros

__all__ = ["upsampling_2d", "upsampling_2d_grad"]


def upsampling_2d(x: Any, indices: Any, size: Pair) -> Any:
    """As AbstractBackend.upsampling_2d says."""
    b, c = x.shape[:2]
    h, w = size
    y = zeros((b, c, h, w), x.dtype)
    lying = y.transpose(0, 2, 3, 1).reshape(b, h * w, c)  # a view: the result lies channels-last
    add_pixels(lying, _by_pixel(indices, np.int64), _by_pixel(x))
    return y


def upsampling_2d_grad(gy: Any, indices: Any) -> Any:
    """As AbstractBackend.upsampling_2d_grad says."""
    b, c, oh, ow = indices.shape
    return take_pixels(_by_pixel(gy), _by_pixel(indices, np.int64)).reshape(b, oh, ow, c).transpose(0, 3, 1, 2)


def _by_pixel(x: Any, dtype: Any = None) -> Any:
    """(B, H * W, C) of (B, C, H, W), without gaps."""
    b, c = x.shape[:2]
    return cupy().ascontiguousarray(x.transpose(0, 2, 3, 1).reshape(b, -1, c), dtype)
