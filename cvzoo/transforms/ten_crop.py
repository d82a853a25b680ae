"""Ten windows of a photo, whose scores a classifier averages."""

import numpy as np

from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.center_crop import check_fits


def ten_crop(img, size):
    """The middle and the four corners of the photo, then the same mirrored left to right.

    img: (C, H, W), any dtype
    size: (H, W) of a window
    Returns (10, C, *size) of the same dtype: middle, top left, bottom left, top right, bottom right, and again.
    Raises ShapeError if img is not (C, H, W) or smaller than size.

    Source: Krizhevsky et al., "ImageNet Classification with Deep Convolutional Neural Networks", 2012, section 4.1;
    the order is ChainerCV's.
    """
    img = as_img(img)
    height, width = size = as_size(size)
    check_fits(img.shape[1:], size)
    bottom, right = img.shape[1] - height, img.shape[2] - width
    corners = [(bottom // 2, right // 2), (0, 0), (bottom, 0), (0, right), (bottom, right)]
    crops = np.stack([img[:, y : y + height, x : x + width] for y, x in corners])
    return np.concatenate([crops, crops[..., ::-1]])
