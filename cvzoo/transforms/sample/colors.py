"""Transforms of samples that change only the photo's values."""

import dataclasses

import numpy as np

from cvzoo.transforms.color_jitter import ColorBackend, apply_jitter, draw_jitter
from cvzoo.transforms.normalize import normalize
from cvzoo.transforms.pca_lighting import add_color, draw_lighting
from cvzoo.transforms.random_distort import apply_distortion, draw_distortion
from cvzoo.transforms.random_erasing import cover, draw_rectangle
from cvzoo.transforms.sample.sample import settle
from cvzoo.transforms.sample.transform import AbstractTransform


class ColorJitter(AbstractTransform):
    """`color_jitter` of the photo."""

    def __init__(self, *, brightness=0, contrast=0, saturation=0, hue=0, dtype=None, backend: ColorBackend = "numpy"):
        self.dtype = dtype
        self.backend = backend
        self.ranges = (brightness, contrast, saturation, hue)

    def draw(self, sample, rng):
        return draw_jitter(*self.ranges, rng)

    def change(self, sample, param):
        return _with_img(sample, lambda img: apply_jitter(img, param, self.dtype, self.backend))


class RandomDistort(AbstractTransform):
    """`random_distort`, SSD's change of colours, of the photo."""

    def __init__(
        self,
        *,
        brightness_delta=32,
        contrast_low=0.5,
        contrast_high=1.5,
        saturation_low=0.5,
        saturation_high=1.5,
        hue_delta=18,
        dtype=None,
        backend: ColorBackend = "numpy",
    ):
        self.dtype = dtype
        self.backend = backend
        self.ranges = (brightness_delta, (contrast_low, contrast_high), (saturation_low, saturation_high), hue_delta)

    def draw(self, sample, rng):
        return draw_distortion(*self.ranges, rng)

    def change(self, sample, param):
        return _with_img(sample, lambda img: apply_distortion(img, param, self.dtype, self.backend))


class PCALighting(AbstractTransform):
    """`pca_lighting` of the photo."""

    def __init__(self, sigma, *, eigen_value=None, eigen_vector=None):
        self.settings = (sigma, eigen_value, eigen_vector)

    def draw(self, sample, rng):
        return draw_lighting(*self.settings, rng)

    def change(self, sample, param):
        return _with_img(sample, lambda img: add_color(img, param["color"]))


class RandomErasing(AbstractTransform):
    """`random_erasing` of the photo; boxes and masks stay, as the paper has it."""

    def __init__(self, *, prob=0.5, scale_ratio_range=(0.02, 0.4), aspect_ratio_range=(0.3, 1 / 0.3), fill=None):
        self.settings = (prob, scale_ratio_range, aspect_ratio_range)
        self.fill = fill

    def draw(self, sample, rng):
        return draw_rectangle(sample.size, *self.settings, rng)

    def change(self, sample, param):
        return _with_img(sample, lambda img: cover(img, self.fill, param))


class Normalize(AbstractTransform):
    """`normalize` of the photo."""

    def __init__(self, *, mean, std):
        self.mean = mean
        self.std = std

    def draw(self, sample, rng):
        return {}

    def change(self, sample, param):
        return _with_img(sample, lambda img: normalize(img, mean=self.mean, std=self.std))


class ToFloat(AbstractTransform):
    """The photo as contiguous float32, its values unchanged: the last word of a pipeline that works on uint8."""

    def draw(self, sample, rng):
        return {}

    def change(self, sample, param):
        return _with_img(sample, lambda img: np.ascontiguousarray(img, dtype=np.float32))


def _with_img(sample, change):
    sample = settle(sample)
    return dataclasses.replace(sample, img=change(sample.img))
