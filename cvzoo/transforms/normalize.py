"""Normalize an image by the mean and the standard deviation of each channel."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.transforms.as_img import as_img
from cvzoo.typing.aliases import Array, ArrayLike, Image


def normalize(img: Image, *, mean: ArrayLike, std: ArrayLike) -> Image:
    """(img - mean) / std, channel by channel; a new float32 array.

    img: (C, H, W), any real dtype
    mean, std: one value, or one per channel, in the units of img (for [0, 255], ImageNet's means are 123.675 ...)
    Raises ShapeError if img is not (C, H, W) or the length of mean or std is not 1 or C.
    """
    img = as_img(img).astype(np.float32, copy=False)
    mean, std = (_per_channel(value, len(img), name) for value, name in ((mean, "mean"), (std, "std")))
    return (img - mean) / std


def _per_channel(value: ArrayLike, n_channel: int, name: str) -> Array:
    value = np.asarray(value, dtype=np.float32).reshape(-1)
    if len(value) not in (1, n_channel):
        raise ShapeError(f"{name} must be one value or one per channel", expected=(n_channel,), got=value.shape)
    return value[:, None, None]
