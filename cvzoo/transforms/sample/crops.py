"""Transforms of samples that crop or pad."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.center_crop import center_window
from cvzoo.transforms.random_crop import draw_window
from cvzoo.transforms.random_crop_with_bbox_constraints import Constraint, draw_constrained_window
from cvzoo.transforms.random_expand import canvas_window, draw_canvas
from cvzoo.transforms.random_sized_crop import draw_sized_window
from cvzoo.transforms.sample.geometric import crop_sample
from cvzoo.transforms.sample.sample import Sample
from cvzoo.transforms.sample.transform import AbstractTransform
from cvzoo.typing.aliases import ArrayLike


class CenterCrop(AbstractTransform):
    """`center_crop` of the image and its annotations. size: (H, W)"""

    def __init__(self, size: Sequence[int], *, allow_outside_center: bool = True) -> None:
        self.size = as_size(size)
        self.allow_outside_center = allow_outside_center

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        return center_window(sample.size, self.size)

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return _cut(sample, param, self.allow_outside_center)


class RandomCrop(AbstractTransform):
    """`random_crop` of the image and its annotations. size: (H, W)"""

    def __init__(self, size: Sequence[int], *, allow_outside_center: bool = True) -> None:
        self.size = as_size(size)
        self.allow_outside_center = allow_outside_center

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        return draw_window(sample.size, self.size, rng)

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return _cut(sample, param, self.allow_outside_center)


class RandomSizedCrop(AbstractTransform):
    """`random_sized_crop` of the image and its annotations."""

    def __init__(
        self,
        *,
        scale_ratio_range: tuple[float, float] = (0.08, 1),
        aspect_ratio_range: tuple[float, float] = (3 / 4, 4 / 3),
        allow_outside_center: bool = True,
    ) -> None:
        self.scale_ratio_range = scale_ratio_range
        self.aspect_ratio_range = aspect_ratio_range
        self.allow_outside_center = allow_outside_center

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        return draw_sized_window(sample.size, self.scale_ratio_range, self.aspect_ratio_range, rng)

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return _cut(sample, param, self.allow_outside_center)


class RandomCropWithBboxConstraints(AbstractTransform):
    """`random_crop_with_bbox_constraints`, SSD's crop. Boxes with their center outside are dropped, as in SSD."""

    def __init__(
        self,
        *,
        min_scale: float = 0.3,
        max_scale: float = 1,
        max_aspect_ratio: float = 2,
        constraints: Sequence[Constraint] | None = None,
        max_trial: int = 50,
        allow_outside_center: bool = False,
    ) -> None:
        self.scale_range = (min_scale, max_scale)
        self.max_aspect_ratio = max_aspect_ratio
        self.constraints = constraints
        self.max_trial = max_trial
        self.allow_outside_center = allow_outside_center

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        bbox = np.empty((0, 4)) if sample.bbox is None else sample.bbox
        return draw_constrained_window(
            sample.size, bbox, self.scale_range, self.max_aspect_ratio, self.constraints, self.max_trial, rng
        )

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return _cut(sample, param, self.allow_outside_center)


class RandomExpand(AbstractTransform):
    """`random_expand` of the image and its annotations. SSD applies it with probability 1/2: `Sometimes(...)`."""

    def __init__(self, *, max_ratio: float = 4, fill: ArrayLike = 0) -> None:
        self.max_ratio = max_ratio
        self.fill = fill

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        return draw_canvas(sample.size, self.max_ratio, rng)

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return crop_sample(sample, **canvas_window(sample.size, param), fill=self.fill)


def _cut(sample: Sample, param: Mapping[str, Any], allow_outside_center: bool) -> Sample:
    return crop_sample(
        sample, y_slice=param["y_slice"], x_slice=param["x_slice"], allow_outside_center=allow_outside_center
    )
