"""Pixels put back where a max pooling took them from, and taken from there."""

import numpy as np

from cvzoo.backends.abstract import Pair
from cvzoo.backends.numpy.memory import zeros

__all__ = ["upsampling_2d", "upsampling_2d_grad"]


def upsampling_2d(x: np.ndarray, indices: np.ndarray, size: Pair) -> np.ndarray:
    """As AbstractBackend.upsampling_2d says."""
    b, c = x.shape[:2]
    h, w = size
    y = zeros((b, c, h, w), x.dtype)
    lying = y.transpose(0, 2, 3, 1).reshape(b, h * w, c)  # a view: the result lies channels-last
    np.add.at(lying, (np.arange(b)[:, None, None], _by_pixel(indices), np.arange(c)), _by_pixel(x))
    return y


def upsampling_2d_grad(gy: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """As AbstractBackend.upsampling_2d_grad says."""
    b, c, oh, ow = indices.shape
    y = np.take_along_axis(_by_pixel(gy), _by_pixel(indices), axis=1)
    return y.reshape(b, oh, ow, c).transpose(0, 3, 1, 2)


def _by_pixel(x: np.ndarray) -> np.ndarray:
    """(B, H * W, C) of (B, C, H, W)."""
    b, c = x.shape[:2]
    return x.transpose(0, 2, 3, 1).reshape(b, -1, c)
