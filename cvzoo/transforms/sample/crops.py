"""Transforms of samples that cut or pad."""

from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.center_crop import center_window
from cvzoo.transforms.random_crop import draw_window
from cvzoo.transforms.random_crop_with_bbox_constraints import draw_constrained_window
from cvzoo.transforms.random_expand import canvas_window, draw_canvas
from cvzoo.transforms.random_sized_crop import draw_sized_window
from cvzoo.transforms.sample.moves import crop_sample
from cvzoo.transforms.sample.transform import AbstractTransform


class CenterCrop(AbstractTransform):
    """`center_crop` of the photo and all that belongs to it. size: (H, W)"""

    def __init__(self, size, *, allow_outside_center=True):
        self.size = as_size(size)
        self.allow_outside_center = allow_outside_center

    def draw(self, sample, rng):
        return center_window(sample.size, self.size)

    def change(self, sample, param):
        return _cut(sample, param, self.allow_outside_center)


class RandomCrop(AbstractTransform):
    """`random_crop` of the photo and all that belongs to it. size: (H, W)"""

    def __init__(self, size, *, allow_outside_center=True):
        self.size = as_size(size)
        self.allow_outside_center = allow_outside_center

    def draw(self, sample, rng):
        return draw_window(sample.size, self.size, rng)

    def change(self, sample, param):
        return _cut(sample, param, self.allow_outside_center)


class RandomSizedCrop(AbstractTransform):
    """`random_sized_crop` of the photo and all that belongs to it."""

    def __init__(self, *, scale_ratio_range=(0.08, 1), aspect_ratio_range=(3 / 4, 4 / 3), allow_outside_center=True):
        self.scale_ratio_range = scale_ratio_range
        self.aspect_ratio_range = aspect_ratio_range
        self.allow_outside_center = allow_outside_center

    def draw(self, sample, rng):
        return draw_sized_window(sample.size, self.scale_ratio_range, self.aspect_ratio_range, rng)

    def change(self, sample, param):
        return _cut(sample, param, self.allow_outside_center)


class RandomCropWithBboxConstraints(AbstractTransform):
    """`random_crop_with_bbox_constraints`: SSD's crop. Boxes whose centre is outside are dropped, as SSD does."""

    def __init__(
        self,
        *,
        min_scale=0.3,
        max_scale=1,
        max_aspect_ratio=2,
        constraints=None,
        max_trial=50,
        allow_outside_center=False,
    ):
        self.scale_range = (min_scale, max_scale)
        self.max_aspect_ratio = max_aspect_ratio
        self.constraints = constraints
        self.max_trial = max_trial
        self.allow_outside_center = allow_outside_center

    def draw(self, sample, rng):
        bbox = [] if sample.bbox is None else sample.bbox
        return draw_constrained_window(
            sample.size, bbox, self.scale_range, self.max_aspect_ratio, self.constraints, self.max_trial, rng
        )

    def change(self, sample, param):
        return _cut(sample, param, self.allow_outside_center)


class RandomExpand(AbstractTransform):
    """`random_expand` of the photo and all that belongs to it. SSD does it every other time: `Sometimes(...)`."""

    def __init__(self, *, max_ratio=4, fill=0):
        self.max_ratio = max_ratio
        self.fill = fill

    def draw(self, sample, rng):
        return draw_canvas(sample.size, self.max_ratio, rng)

    def change(self, sample, param):
        return crop_sample(sample, **canvas_window(sample.size, param), fill=self.fill)


def _cut(sample, param, allow_outside_center):
    return crop_sample(
        sample, y_slice=param["y_slice"], x_slice=param["x_slice"], allow_outside_center=allow_outside_center
    )
