"""Transforms of samples that flip or rotate."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.transforms.random_flip import draw_flip
from cvzoo.transforms.sample.geometric import flip_sample, rotate_sample
from cvzoo.transforms.sample.sample import Sample
from cvzoo.transforms.sample.transform import AbstractTransform
from cvzoo.typing.aliases import ArrayLike


class RandomFlip(AbstractTransform):
    """`random_flip` of the image and its annotations.

    mirrored: (K,) for each keypoint the index of the one that stands in its place in a mirror image, such as the right
        eye for the left one; they are exchanged where one axis is flipped, not both. None: each is its own
    """

    def __init__(
        self, *, y_random: bool = False, x_random: bool = False, mirrored: Sequence[int] | None = None
    ) -> None:
        self.mirrored = None if mirrored is None else list(mirrored)
        self.y_random = y_random
        self.x_random = x_random

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        return draw_flip(self.y_random, self.x_random, rng)

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        flipped = flip_sample(sample, y_flip=param["y_flip"], x_flip=param["x_flip"])
        if self.mirrored is None or param["y_flip"] == param["x_flip"] or flipped.point is None:
            return flipped
        visible = None if flipped.visible is None else flipped.visible[:, self.mirrored]
        return dataclasses.replace(flipped, point=flipped.point[:, self.mirrored], visible=visible)


class RandomRotate(AbstractTransform):
    """`random_rotate`, by 0 to 3 quarter turns, of the image and its annotations."""

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        return {"k": int(rng.integers(4))}

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return sample if param["k"] == 0 else rotate_sample(sample, 90 * param["k"])


class RandomTilt(AbstractTransform):
    """The image and its annotations rotated by an angle drawn from [-degrees, degrees].

    expand, fill: as in `rotate`
    Raises ValueRangeError if degrees is negative.
    """

    def __init__(self, degrees: float, *, expand: bool = False, fill: ArrayLike = 0) -> None:
        if degrees < 0:
            raise ValueRangeError("degrees must not be negative", got=degrees)
        self.degrees = degrees
        self.expand = expand
        self.fill = fill

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        return {"angle": float(rng.uniform(-self.degrees, self.degrees))}

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return rotate_sample(sample, param["angle"], expand=self.expand, fill=self.fill)
