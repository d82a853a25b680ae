"""Photos of different sizes as one batch."""

from collections.abc import Sequence

import numpy as np

from cvzoo.backends.device import get_device
from cvzoo.backends.dispatch import get_backend
from cvzoo.errors.exceptions import ShapeError


def collate_photos(batch: Sequence[tuple], device: str | int | None = None, *, multiple: int = 32) -> tuple:
    """A batch of examples as (x, then a list for each further value): a converter for updaters.

    batch: tuples whose first value is a photo (C, H, W) float32, as the network wants it, and of any size; what
        follows, such as bbox, label and ignored, is passed on as lists with one element a photo
    device: where x shall be; None: on the CPU; boxes and the like stay where they are
    multiple: sides of x are rounded up to multiples of it
    Returns x (B, C, H', W') float32, channels-last in memory, photos in the upper left corner and zeros elsewhere,
    which is the mean of normalized photos.
    Raises ShapeError if the batch is empty, or its photos are not (C, H, W) with one C.
    """
    if not batch:
        raise ShapeError("collate_photos: the batch is empty")
    imgs, *others = zip(*batch)
    if any(img.ndim != 3 or img.shape[0] != imgs[0].shape[0] for img in imgs):
        raise ShapeError("collate_photos: photos must be (C, H, W)", got=[img.shape for img in imgs])
    height, width = (-(-max(sides) // multiple) * multiple for sides in zip(*(img.shape[1:] for img in imgs)))
    x = get_backend().zeros((len(imgs), imgs[0].shape[0], height, width), np.float32)
    for row, img in zip(x, imgs):
        row[:, : img.shape[1], : img.shape[2]] = img
    return (x if device is None else get_device(device).asarray(x), *map(list, others))
