"""A photo as torchvision's segmenters see it: all of it, at another size."""

from typing import Any, Protocol

import numpy as np

from cvzoo.backends.cuda.prepare import PhotoPlan
from cvzoo.backends.cuda.resampling import Resampling
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.photo_preparation import short_side_size
from cvzoo.transforms.normalize import normalize
from cvzoo.transforms.pillow_passes import rows_first
from cvzoo.transforms.resize import resize

# ImageNet's statistics for RGB in [0, 255]
_MEAN = 255 * np.array([0.485, 0.456, 0.406], np.float32)
_STD = 255 * np.array([0.229, 0.224, 0.225], np.float32)


def prepare_by_short_side(img: np.ndarray, short: int) -> np.ndarray:
    """(3, H', W') float32: the short side made `short` as Pillow does on 8 bits, normalized.

    img: (3, H, W) float32 RGB [0, 255]
    """
    pixels = np.clip(np.rint(img), 0, 255).astype(np.uint8)
    return normalize(resize(pixels, short_side_size(img.shape[1:], short)), mean=_MEAN, std=_STD)


def short_side_plan(size: tuple[int, int], short: int) -> PhotoPlan:
    """What `prepare_by_short_side` does to a photo of `size` (H, W), for a GPU."""
    resized = short_side_size(size, short)
    return PhotoPlan(
        resized,
        resized,
        Resampling.PILLOW,
        mean=tuple(_MEAN.tolist()),
        std=tuple(_STD.tolist()),
        horizontal_first=rows_first(size, resized) is not False,
    )


def check_short(short: int) -> int:
    """short. Raises ValueRangeError if it is no positive integer."""
    if isinstance(short, bool) or not isinstance(short, int) or short < 1:
        raise ValueRangeError("short must be a positive integer", got=repr(short))
    return short


def describe_short_side(short: int) -> str:
    """In words, for records of weights."""
    return f"short side {short} (bilinear, antialiased), RGB; (x / 255 - (.485, .456, .406)) / (.229, .224, .225)"


class _WithShort(Protocol):
    short: int


def short_side_preprocessing(model: _WithShort) -> dict[str, Any]:
    """How a segmenter prepares a photo, for readers other than cvzoo."""
    return {
        "channels": "RGB",
        "mean": [0.485, 0.456, 0.406],
        "std": [0.229, 0.224, 0.225],
        "short_side": model.short,
        "interpolation": "bilinear, antialiased",
    }
