"""Tiling of images of the same size."""

import math
from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array


def tile_images(
    imgs: Array, n_col: int, pad: int | tuple[int, int] = 2, fill: float | Sequence[float] | Array = 0
) -> Array:
    """The images of a batch in rows, (C, (H + pad_y) * rows, (W + pad_x) * columns), of the batch's dtype.

    imgs: (B, C, H, W)
    n_col: maximum number of images per row
    pad: pixels around the images, a number or (y, x); half of them before an image, the rest after it
    fill: value of the padding, a number or one for each channel
    Raises ShapeError if imgs is not (B, C, H, W) with B > 0, or fill does not fit; ValueRangeError if n_col is not
    positive.
    """
    if imgs.ndim != 4 or len(imgs) == 0:
        raise ShapeError("tile_images: imgs must be (B, C, H, W), B > 0", got=imgs.shape)
    if n_col < 1:
        raise ValueRangeError("tile_images: n_col must be positive", got=n_col)
    n, channels, height, width = imgs.shape
    n_col = min(n_col, n)
    n_row = math.ceil(n / n_col)
    y_pad, x_pad = (pad, pad) if isinstance(pad, int) else pad
    tiles = np.empty((channels, n_row, height + y_pad, n_col, width + x_pad), imgs.dtype)
    if np.size(fill) not in (1, channels):
        got = np.size(fill)
        raise ShapeError("tile_images: fill must be a number or one for each channel", expected=channels, got=got)
    tiles[:] = np.reshape(fill, (-1, 1, 1, 1, 1))
    top, left = y_pad // 2, x_pad // 2
    for i, img in enumerate(imgs):
        row, column = divmod(i, n_col)
        tiles[:, row, top : top + height, column, left : left + width] = img
    return tiles.reshape(channels, n_row * (height + y_pad), n_col * (width + x_pad))
