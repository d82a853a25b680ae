"""Transforms of samples that resize."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.letterbox import letterbox, letterbox_frame
from cvzoo.transforms.resize import Backend, Interpolation
from cvzoo.transforms.resize_contain import contain_frame, frame_window
from cvzoo.transforms.resize_with_random_interpolation import draw_interpolation
from cvzoo.transforms.sample.geometric import crop_sample, resize_sample
from cvzoo.transforms.sample.sample import Sample, settle
from cvzoo.transforms.sample.transform import AbstractTransform
from cvzoo.transforms.scale import scaled_size
from cvzoo.typing.aliases import ArrayLike


class Resize(AbstractTransform):
    """`resize` of the image and its annotations. size: (H, W)"""

    def __init__(
        self, size: Sequence[int], *, interpolation: Interpolation | int = "bilinear", backend: Backend = "pillow"
    ) -> None:
        self.size = as_size(size)
        self.interpolation: Interpolation | int = interpolation
        self.backend: Backend = backend

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        return {"size": self.size}

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return resize_sample(sample, param["size"], interpolation=self.interpolation, backend=self.backend)


class ResizeWithRandomInterpolation(AbstractTransform):
    """`resize_with_random_interpolation` of the image and its annotations. size: (H, W)"""

    def __init__(self, size: Sequence[int], *, backend: Backend = "pillow") -> None:
        self.size = as_size(size)
        self.backend: Backend = backend

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        return draw_interpolation(rng)

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return resize_sample(sample, self.size, interpolation=param["interpolation"], backend=self.backend)


class Scale(AbstractTransform):
    """`scale` of the image and its annotations."""

    def __init__(
        self,
        *,
        short: int | None = None,
        long: int | None = None,
        interpolation: Interpolation | int = "bilinear",
        backend: Backend = "pillow",
    ) -> None:
        self.short = short
        self.long = long
        self.interpolation: Interpolation | int = interpolation
        self.backend: Backend = backend

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        return {"size": scaled_size(sample.size, short=self.short, long=self.long)}

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return resize_sample(sample, param["size"], interpolation=self.interpolation, backend=self.backend)


class ResizeContain(AbstractTransform):
    """`resize_contain` of the image and its annotations. size: (H, W)"""

    def __init__(
        self,
        size: Sequence[int],
        *,
        fill: ArrayLike = 0,
        interpolation: Interpolation | int = "bilinear",
        backend: Backend = "pillow",
    ) -> None:
        self.size = as_size(size)
        self.fill = fill
        self.interpolation: Interpolation | int = interpolation
        self.backend: Backend = backend

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        return contain_frame(sample.size, self.size)

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        sample = resize_sample(sample, param["scaled_size"], interpolation=self.interpolation, backend=self.backend)
        return crop_sample(sample, **frame_window(param, self.size), fill=self.fill)


class Letterbox(AbstractTransform):
    """`letterbox`, darknet's, of the image and its annotations. size: (H, W)"""

    def __init__(self, size: Sequence[int], *, fill: float = 127.5) -> None:
        self.size = as_size(size)
        self.fill = fill

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        frame = letterbox_frame(sample.size, self.size)
        return {"scaled_size": frame.size, "y_offset": frame.offset[0], "x_offset": frame.offset[1]}

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        sample = settle(sample)
        moved = resize_sample(sample, param["scaled_size"], interpolation="nearest")
        moved = settle(crop_sample(moved, **frame_window(param, self.size)))
        return dataclasses.replace(moved, img=letterbox(sample.img, self.size, fill=self.fill))
