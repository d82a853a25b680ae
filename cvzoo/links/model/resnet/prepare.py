"""A photo as a classifier of torchvision sees it."""

from collections.abc import Sequence

import numpy as np

from cvzoo.transforms.normalize import normalize
from cvzoo.transforms.resize import resize

# ImageNet's statistics for RGB in [0, 255]
MEAN = 255 * np.array([0.485, 0.456, 0.406], np.float32)
STD = 255 * np.array([0.229, 0.224, 0.225], np.float32)


def short_side_size(size: Sequence[int], short: int) -> tuple[int, int]:
    """(H, W) in proportion, the short side `short`, the long one cut off to a whole pixel."""
    height, width = size
    if height <= width:
        return short, int(short * width / height)
    return int(short * height / width), short


def middle_of(img: np.ndarray, crop: int) -> np.ndarray:
    """(C, crop, crop): the middle of the photo, with zeros around where it is smaller; halves are rounded to even."""
    _, height, width = img.shape
    if min(height, width) < crop:
        top, left = max(crop - height, 0) // 2, max(crop - width, 0) // 2
        bottom, right = (max(crop - height, 0) + 1) // 2, (max(crop - width, 0) + 1) // 2
        img = np.pad(img, ((0, 0), (top, bottom), (left, right)))
        _, height, width = img.shape
    y, x = round((height - crop) / 2), round((width - crop) / 2)
    return img[:, y : y + crop, x : x + crop]


def prepare_for_imagenet(img: np.ndarray, *, short: int, crop: int) -> np.ndarray:
    """(3, crop, crop) float32: short side resized as Pillow does on 8 bits, the middle cut out, normalized.

    img: (3, H, W) float32 RGB [0, 255]
    """
    pixels = np.clip(np.rint(img), 0, 255).astype(np.uint8)
    resized = resize(pixels, short_side_size(img.shape[1:], short))
    return normalize(middle_of(resized, crop), mean=MEAN, std=STD)
