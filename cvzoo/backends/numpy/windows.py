"""Windows that slide over a padded image: what convolution and pooling share."""

from collections.abc import Iterator

import numpy as np

from cvzoo.backends.abstract import Pad, Pair


def padded_nhwc(x: np.ndarray, pad: Pad, value: float) -> np.ndarray:
    """(B, top + H + bottom, left + W + right, C) of x (B, C, H, W); negative padding at the end crops."""
    top, bottom, left, right = pad
    b, c, h, w = x.shape
    cropped = x[:, :, : h + min(bottom, 0), : w + min(right, 0)].transpose(0, 2, 3, 1)
    if top == 0 and left == 0 and bottom <= 0 and right <= 0:
        return np.ascontiguousarray(cropped)
    y = np.full((b, h + top + bottom, w + left + right, c), value, x.dtype)
    y[:, top : top + cropped.shape[1], left : left + cropped.shape[2]] = cropped
    return y


def unpadded(y: np.ndarray, size: Pair, pad: Pad) -> np.ndarray:
    """(B, C, H, W) channels-last of the padded y (B, H', W', C): what padded_nhwc would have been given."""
    top, bottom, left, right = pad
    h, w = size
    if bottom < 0 or right < 0:
        y = np.pad(y, ((0, 0), (0, max(-bottom, 0)), (0, max(-right, 0)), (0, 0)))
    return np.ascontiguousarray(y[:, top : top + h, left : left + w]).transpose(0, 3, 1, 2)


def out_size(size: Pair, ksize: Pair, stride: Pair, pad: Pad, dilate: Pair = (1, 1)) -> Pair:
    """The number of positions of a window (rows, columns)."""
    h = size[0] + pad[0] + pad[1] - dilate[0] * (ksize[0] - 1) - 1
    w = size[1] + pad[2] + pad[3] - dilate[1] * (ksize[1] - 1) - 1
    return h // stride[0] + 1, w // stride[1] + 1


def taps(
    padded: np.ndarray, ksize: Pair, stride: Pair, size: Pair, dilate: Pair = (1, 1)
) -> Iterator[tuple[int, int, np.ndarray]]:
    """For each tap of a window: its row, its column, and the strided view (B, OH, OW, C) of the pixels under it.

    size: (OH, OW)
    """
    for i in range(ksize[0]):
        row = i * dilate[0]
        rows = slice(row, row + stride[0] * (size[0] - 1) + 1, stride[0])
        for j in range(ksize[1]):
            column = j * dilate[1]
            yield i, j, padded[:, rows, column : column + stride[1] * (size[1] - 1) + 1 : stride[1]]
