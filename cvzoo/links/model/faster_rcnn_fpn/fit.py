"""How a photo is brought to the size that a two-stage detector sees."""

import numpy as np

from cvzoo.backends.cuda.prepare import PhotoPlan
from cvzoo.backends.cuda.resampling import Resampling
from cvzoo.functions.array.resize_images import resize_images
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNSettings
from cvzoo.links.model.retinanet.fit import fitted_size, padded_size
from cvzoo.transforms.normalize import normalize
from cvzoo.transforms.pillow_passes import rows_first
from cvzoo.transforms.resize import resize


def seen_size(size: tuple[int, int], settings: FasterRCNNFPNSettings) -> tuple[int, int]:
    """(H, W) of the resized photo, without the zeros around it."""
    s = settings
    if not s.antialias:
        return fitted_size(size, s.min_size, s.max_size)
    factor = s.min_size / min(size)
    if factor * max(size) > s.max_size:
        factor = s.max_size / max(size)
    return max(int(size[0] * factor + 0.5), 1), max(int(size[1] * factor + 0.5), 1)


def fit_photo(img: np.ndarray, settings: FasterRCNNFPNSettings) -> np.ndarray:
    """(3, H', W') float32: normalized, resized, and padded with zeros at the bottom and at the right.

    img: (3, H, W) float32 RGB [0, 255]
    """
    s = settings
    mean, std = np.float32(s.mean), np.float32(s.std)
    size = seen_size(img.shape[1:], s)
    # channels last, as the network reads it
    out = np.zeros((*padded_size(size), 3), np.float32).transpose(2, 0, 1)
    if s.antialias:
        pixels = np.clip(np.rint(img), 0, 255).astype(np.uint8)
        out[:, : size[0], : size[1]] = normalize(resize(pixels, size), mean=mean, std=std)
    else:
        x = normalize(img, mean=mean, std=std)
        out[:, : size[0], : size[1]] = resize_images(x[None], size, align_corners=False).array[0]
    return out


def fit_plan(size: tuple[int, int], settings: FasterRCNNFPNSettings) -> PhotoPlan:
    """What `fit_photo` does to a photo of `size` (H, W), for a GPU."""
    s = settings
    resized = seen_size(size, s)
    return PhotoPlan(
        resized,
        padded_size(resized),
        Resampling.PILLOW if s.antialias else Resampling.BILINEAR,
        mean=tuple(s.mean),
        std=tuple(s.std),
        before=not s.antialias,
        horizontal_first=rows_first(size, resized) is not False,
    )
