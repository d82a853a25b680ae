"""Data augmentation for image classifiers."""

from typing import Any

import numpy as np

from cvzoo.backends.image_plan import Resampling
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.preparation.stretch import Stretch
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.color_jitter import color_jitter
from cvzoo.transforms.normalize import normalize
from cvzoo.transforms.pca_lighting import pca_lighting
from cvzoo.transforms.random_flip import random_flip
from cvzoo.transforms.random_sized_crop import random_sized_crop
from cvzoo.transforms.resize import resize


class ImageTransform:
    """(img, label) to (x, label), for a data set's transform: random resized crop, flip, color jitter and lighting.

    preparation: the model's; its input size, interpolation, mean and std are used
    scale_ratio_range: range of the crop's fraction of the image's area
    x_flip: flip horizontally with probability 1/2
    jitter: maximum deviation of the factors of brightness, contrast and saturation from 1
    lighting: standard deviation of the noise along the principal components of colors, in [0, 255]

    Raises ValueRangeError for a jitter or a lighting below 0.
    Source: the augmentation of fb.resnet.torch, which Goyal et al., 2017, train with: Szegedy et al., 2015 (the crop),
    Howard, 2013 (the jitter), Krizhevsky et al., 2012 (the lighting).
    """

    def __init__(
        self,
        preparation: CenterCrop | Stretch,
        *,
        scale_ratio_range: tuple[float, float] = (0.08, 1.0),
        x_flip: bool = True,
        jitter: float = 0.4,
        lighting: float = 25.5,
    ):
        if not (jitter >= 0 and lighting >= 0):
            raise ValueRangeError("jitter and lighting must not be negative", got=(jitter, lighting))
        self.preparation = preparation
        self.input_size = preparation.placement((1, 1)).input_size
        self.scale_ratio_range = scale_ratio_range
        self.x_flip = x_flip
        self.jitter = jitter
        self.lighting = lighting

    def __call__(
        self, example: tuple[np.ndarray, Any], rng: np.random.Generator | None = None
    ) -> tuple[np.ndarray, Any]:
        """x (3, crop, crop) float32, normalized; the label as it was.

        example: img (3, H, W) or grey (1, H, W), RGB [0, 255], and its label
        rng: random generator; None: this thread's
        """
        img, label = example
        rng = as_rng(rng)
        part = random_sized_crop(img, scale_ratio_range=self.scale_ratio_range, rng=rng)
        pixels = np.clip(np.rint(part), 0, 255).astype(np.uint8)  # uint8, as in the preparation's resize
        if len(pixels) == 1:
            pixels = np.repeat(pixels, 3, axis=0)
        cubic = self.preparation.resampling is Resampling.PILLOW_CUBIC
        x = resize(pixels, self.input_size, interpolation="bicubic" if cubic else "bilinear")
        x = random_flip(x, x_random=self.x_flip, rng=rng)
        jitter = self.jitter
        x = color_jitter(x, brightness=jitter, contrast=jitter, saturation=jitter, dtype=np.float32, rng=rng)
        x = pca_lighting(x, self.lighting, rng=rng)
        mean, std = self.preparation.mean_and_std()
        return normalize(x, mean=mean, std=std), label


PhotoTransform = ImageTransform  # its former name
