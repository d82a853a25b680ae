"""Shift and scale the channels of a photo."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.transforms.as_img import as_img


def normalize(img, *, mean, std):
    """(img - mean) / std, channel by channel; a new float32 array.

    img: (C, H, W), any real dtype
    mean, std: one number, or one a channel, in the units of img (for [0, 255], ImageNet's means are 123.675 ...)
    Raises ShapeError if img is not (C, H, W) or the lengths do not fit.
    """
    img = as_img(img).astype(np.float32, copy=False)
    mean, std = (_per_channel(value, len(img), name) for value, name in ((mean, "mean"), (std, "std")))
    return (img - mean) / std


def _per_channel(value, n_channel, name):
    value = np.asarray(value, dtype=np.float32).reshape(-1)
    if len(value) not in (1, n_channel):
        raise ShapeError(f"{name} must be one number or one a channel", expected=(n_channel,), got=value.shape)
    return value[:, None, None]
