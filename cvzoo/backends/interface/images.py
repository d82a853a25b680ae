"""Kernels that make images a network's input."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from cvzoo.backends.interface.array_types import Array
from cvzoo.backends.photo_plan import PhotoPlan


class ImageKernels(Protocol):
    """Images lie on the host, where they are read; what becomes of them lies on the backend's device."""

    def prepare_images(
        self,
        images: Sequence[np.ndarray],
        plans: Sequence[PhotoPlan],
        *,
        dtype: Any = np.float32,
        channels: int = 3,
    ) -> Array:
        """The images resized, normalized and framed as x (B, channels, H, W).

        images: (3, H, W) uint8 or float32 each, RGB in [0, 255], lying in memory as they like
        plans: of each image, all with one frame
        dtype: float32, float16 or bfloat16; channels: at least 3, those past the third are 0
        Raises ShapeError if an image is no (3, H, W) of these types, or frames differ.
        """
