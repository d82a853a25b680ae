"""Ten-crop evaluation: ten windows of an image over which a classifier's scores are averaged."""

from collections.abc import Sequence

import numpy as np

from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.center_crop import check_fits
from cvzoo.typing.aliases import Array, Image


def ten_crop(img: Image, size: Sequence[int]) -> Array:
    """The center and the four corners of the image, then the same flipped horizontally.

    img: (C, H, W), any dtype
    size: (H, W) of a window
    Returns (10, C, *size) of the same dtype: center, top left, bottom left, top right, bottom right, then flipped.
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
