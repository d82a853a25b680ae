"""Photometric transforms of samples, which change pixel values only."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from cvzoo.transforms.color_jitter import ColorBackend, Factor, apply_jitter, draw_jitter
from cvzoo.transforms.normalize import normalize
from cvzoo.transforms.pca_lighting import add_color, draw_lighting
from cvzoo.transforms.random_distort import apply_distortion, draw_distortion
from cvzoo.transforms.random_erasing import cover, draw_rectangle
from cvzoo.transforms.sample.sample import Sample, settle
from cvzoo.transforms.sample.transform import AbstractTransform
from cvzoo.typing.aliases import ArrayLike, Image


class ColorJitter(AbstractTransform):
    """`color_jitter` of the image."""

    def __init__(
        self,
        *,
        brightness: Factor = 0,
        contrast: Factor = 0,
        saturation: Factor = 0,
        hue: Factor = 0,
        dtype: npt.DTypeLike | None = None,
        backend: ColorBackend = "numpy",
    ) -> None:
        self.dtype = dtype
        self.backend: ColorBackend = backend
        self.ranges = (brightness, contrast, saturation, hue)

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        return draw_jitter(*self.ranges, rng)

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return _with_img(sample, lambda img: apply_jitter(img, param, self.dtype, self.backend))


class RandomDistort(AbstractTransform):
    """`random_distort`, SSD's photometric distortion, of the image."""

    def __init__(
        self,
        *,
        brightness_delta: float = 32,
        contrast_low: float = 0.5,
        contrast_high: float = 1.5,
        saturation_low: float = 0.5,
        saturation_high: float = 1.5,
        hue_delta: float = 18,
        dtype: npt.DTypeLike | None = None,
        backend: ColorBackend = "numpy",
    ) -> None:
        self.dtype = dtype
        self.backend: ColorBackend = backend
        self.ranges = (brightness_delta, (contrast_low, contrast_high), (saturation_low, saturation_high), hue_delta)

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        return draw_distortion(*self.ranges, rng)

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return _with_img(sample, lambda img: apply_distortion(img, param, self.dtype, self.backend))


class PCALighting(AbstractTransform):
    """`pca_lighting` of the image."""

    def __init__(
        self, sigma: float, *, eigen_value: ArrayLike | None = None, eigen_vector: ArrayLike | None = None
    ) -> None:
        self.settings = (sigma, eigen_value, eigen_vector)

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        return draw_lighting(*self.settings, rng)

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return _with_img(sample, lambda img: add_color(img, param["color"]))


class RandomErasing(AbstractTransform):
    """`random_erasing` of the image; boxes and masks do not change, as in the paper."""

    def __init__(
        self,
        *,
        prob: float = 0.5,
        scale_ratio_range: tuple[float, float] = (0.02, 0.4),
        aspect_ratio_range: tuple[float, float] = (0.3, 1 / 0.3),
        fill: ArrayLike | None = None,
    ) -> None:
        self.settings = (prob, scale_ratio_range, aspect_ratio_range)
        self.fill = fill

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        return draw_rectangle(sample.size, *self.settings, rng)

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return _with_img(sample, lambda img: cover(img, self.fill, param))


class Normalize(AbstractTransform):
    """`normalize` of the image."""

    def __init__(self, *, mean: ArrayLike, std: ArrayLike) -> None:
        self.mean = mean
        self.std = std

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        return {}

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return _with_img(sample, lambda img: normalize(img, mean=self.mean, std=self.std))


class ToFloat(AbstractTransform):
    """The image as contiguous float32, its values unchanged: the last step of a pipeline that works on uint8."""

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        return {}

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return _with_img(sample, lambda img: np.ascontiguousarray(img, dtype=np.float32))


def _with_img(sample: Sample, change: Callable[[Image], Image]) -> Sample:
    sample = settle(sample)
    return dataclasses.replace(sample, img=change(sample.img))
