"""Images made a network's input on the host, resized by oneDNN where Pillow does not do it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.backends.numpy.prepare import prepare_on_host
from cvzoo.backends.onednn.resize import resize_2d
from cvzoo.backends.photo_plan import PhotoPlan

__all__ = ["prepare_images"]


def prepare_images(
    images: Sequence[np.ndarray], plans: Sequence[PhotoPlan], *, dtype: Any = np.float32, channels: int = 3
) -> np.ndarray:
    return prepare_on_host(images, plans, dtype, channels, resize_2d)
