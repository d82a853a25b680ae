"""A photo as a classifier of ImageNet sees it."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from cvzoo.backends.cuda.prepare import PhotoPlan
from cvzoo.backends.cuda.resampling import Resampling
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.transforms.normalize import normalize
from cvzoo.transforms.pillow_passes import rows_first
from cvzoo.transforms.resize import resize

Triple = tuple[float, float, float]


@dataclasses.dataclass(frozen=True)
class PhotoPreparation:
    """Short side resized as Pillow does on 8 bits, the middle cut out, normalized; it checks itself.

    short: length of the short side, pixels
    crop: side of the square that is cut out
    interpolation: "bilinear" or "bicubic", both antialiased
    mean, std: of RGB in [0, 1]
    Raises ValueRangeError that names the field.
    """

    short: int = 256
    crop: int = 224
    interpolation: str = "bilinear"
    mean: Triple = (0.485, 0.456, 0.406)
    std: Triple = (0.229, 0.224, 0.225)

    def __post_init__(self):
        for name, value in (("short", self.short), ("crop", self.crop)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueRangeError(f"PhotoPreparation: {name} must be a positive integer", got=repr(value))
        if self.interpolation not in ("bilinear", "bicubic"):
            raise ValueRangeError(
                "PhotoPreparation: interpolation", expected="'bilinear' or 'bicubic'", got=repr(self.interpolation)
            )
        for name, three in (("mean", self.mean), ("std", self.std)):
            array = np.asarray(three, np.float64)
            if array.shape != (3,) or not np.isfinite(array).all() or (name == "std" and not (array > 0).all()):
                raise ValueRangeError(f"PhotoPreparation: {name} must be three numbers", got=repr(three)[:80])
            object.__setattr__(self, name, tuple(float(value) for value in array))

    def __call__(self, img: np.ndarray) -> np.ndarray:
        """(3, crop, crop) float32 of a photo (3, H, W) float32 RGB [0, 255]."""
        pixels = np.clip(np.rint(img), 0, 255).astype(np.uint8)
        resized = resize(pixels, short_side_size(img.shape[1:], self.short), interpolation=self.interpolation)
        mean, std = (255 * np.array(three, np.float32) for three in (self.mean, self.std))
        return normalize(middle_of(resized, self.crop), mean=mean, std=std)

    def plan(self, size: tuple[int, int]) -> PhotoPlan:
        """The same for a photo of `size` (H, W) on a GPU."""
        resized = short_side_size(size, self.short)
        mean, std = (255 * np.array(three, np.float32) for three in (self.mean, self.std))
        return PhotoPlan(
            resized,
            (self.crop, self.crop),
            Resampling.PILLOW if self.interpolation == "bilinear" else Resampling.PILLOW_CUBIC,
            offset=tuple([_middle_offset(side, self.crop) for side in resized]),
            mean=tuple(mean.tolist()),
            std=tuple(std.tolist()),
            fill=tuple((-mean / std).tolist()),
            horizontal_first=rows_first(size, resized) is not False,
        )

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON has them."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in dataclasses.asdict(self).items()}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "PhotoPreparation":
        """What `to_json` gave. Raises KeyError, TypeError or ValueRangeError for what it did not give."""
        return cls(
            fields["short"], fields["crop"], fields["interpolation"], tuple(fields["mean"]), tuple(fields["std"])
        )

    def describe(self) -> str:
        """In words, for records of weights."""
        mean, std = (", ".join(f"{v:.5g}" for v in three) for three in (self.mean, self.std))
        return (
            f"short side {self.short} ({self.interpolation}, antialiased), middle {self.crop} x {self.crop}, RGB; "
            f"(x / 255 - ({mean})) / ({std})"
        )


def short_side_size(size: tuple[int, int], short: int) -> tuple[int, int]:
    """(H, W) in proportion, the short side `short`, the long one cut off to a whole pixel."""
    height, width = size
    if height <= width:
        return short, int(short * width / height)
    return int(short * height / width), short


def _middle_offset(side: int, crop: int) -> int:
    """Where a side begins in the square that `middle_of` cuts out."""
    return (crop - side) // 2 if side < crop else -round((side - crop) / 2)


def middle_of(img: np.ndarray, crop: int) -> np.ndarray:
    """(C, crop, crop): the middle of the photo, with zeros around where it is smaller; halves are rounded to even."""
    _, height, width = img.shape
    if min(height, width) < crop:
        top, left = max(crop - height, 0) // 2, max(crop - width, 0) // 2
        bottom, right = (max(crop - height, 0) + 1) // 2, (max(crop - width, 0) + 1) // 2
        img = np.pad(img, ((0, 0), (top, bottom), (left, right)))
        _, height, width = img.shape
    y, x = round((height - crop) / 2), round((width - crop) / 2)
    return img[:, y : y + crop, x : x + crop]
