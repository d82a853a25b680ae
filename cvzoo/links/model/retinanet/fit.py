"""How a photo is brought to the size that a RetinaNet sees."""

import math
from collections.abc import Sequence

import numpy as np

from cvzoo.backends.cuda.boxes import frame
from cvzoo.backends.cuda.prepare import PhotoPlan
from cvzoo.backends.cuda.resampling import Resampling
from cvzoo.functions.array.resize_images import resize_images
from cvzoo.transforms.normalize import normalize
from cvzoo.transforms.pillow_passes import rows_first
from cvzoo.transforms.resize import resize

# ImageNet's statistics for RGB in [0, 255]
MEAN = 255 * np.array([0.485, 0.456, 0.406], np.float32)
STD = 255 * np.array([0.229, 0.224, 0.225], np.float32)
MULTIPLE = 32  # the stride of C5: the maps' sides then halve without a rest


def fitted_size(size: Sequence[int], min_size: int, max_size: int) -> tuple[int, int]:
    """(H, W) of the resized photo: its short side is min_size, or its long one max_size, whichever is smaller.

    The sides are cut off to whole pixels, at least 1, in the arithmetic of torchvision, where 97 x 97 becomes 799 x 799
    and not 800 x 800.
    """
    factor = min(min_size / min(size), max_size / max(size))
    return max(math.floor(size[0] * factor), 1), max(math.floor(size[1] * factor), 1)


def padded_size(size: Sequence[int]) -> tuple[int, int]:
    """(H, W) rounded up to multiples of 32."""
    return math.ceil(size[0] / MULTIPLE) * MULTIPLE, math.ceil(size[1] / MULTIPLE) * MULTIPLE


def fit_photo(img: np.ndarray, min_size: int, max_size: int, *, antialias: bool) -> np.ndarray:
    """The photo normalized, resized, and padded with zeros at the bottom and at the right: (3, H', W') float32.

    img: (3, H, W) float32 RGB [0, 255]
    antialias: see `RetinaNetSettings`
    """
    size = fitted_size(img.shape[1:], min_size, max_size)
    if antialias:
        resized = normalize(resize(img, size), mean=MEAN, std=STD)
    else:
        x = normalize(img, mean=MEAN, std=STD)
        resized = resize_images(x[None], size, align_corners=False).array[0]
    # channels last, as the network reads it
    out = np.zeros((*padded_size(size), 3), np.float32).transpose(2, 0, 1)
    out[:, : size[0], : size[1]] = resized
    return out


def fit_plan(size: tuple[int, int], min_size: int, max_size: int, *, antialias: bool) -> PhotoPlan:
    """What `fit_photo` does to a photo of `size` (H, W), for a GPU."""
    resized = fitted_size(size, min_size, max_size)
    return PhotoPlan(
        resized,
        padded_size(resized),
        Resampling.PILLOW_FLOATS if antialias else Resampling.BILINEAR,
        mean=tuple(MEAN.tolist()),
        std=tuple(STD.tolist()),
        before=not antialias,
        horizontal_first=rows_first(size, resized) is not False,
    )


def fitted_frame(size: tuple[int, int], seen: tuple[int, int]) -> np.ndarray:
    """(11,) float32: how boxes in pixels of the network's input, cut at `seen`, become the photo's; see `frame`."""
    return frame(size, cut=seen, factor=np.float32(size) / np.float32(seen))
