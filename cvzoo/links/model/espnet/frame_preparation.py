"""A video frame as ESPNet sees it."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.array.resize_images import resize_images
from cvzoo.transforms.normalize import normalize

Triple = tuple[float, float, float]


@dataclasses.dataclass(frozen=True)
class FramePreparation:
    """Stretched to one size as OpenCV does, blue first, (x - mean) / std / 255; it checks itself.

    insize: (H, W), multiples of 8
    mean, std: of blue, green and red in [0, 255]
    Raises ValueRangeError that names the field.
    """

    insize: tuple[int, int] = (360, 480)
    mean: Triple = (110.33139, 108.40919, 105.03353)
    std: Triple = (72.125206, 72.68849, 69.902596)

    def __post_init__(self):
        if len(self.insize) != 2 or any(type(side) is not int or side < 8 or side % 8 for side in self.insize):
            raise ValueRangeError("FramePreparation: insize must be two multiples of 8", got=repr(self.insize))
        object.__setattr__(self, "insize", tuple(self.insize))
        for name, three in (("mean", self.mean), ("std", self.std)):
            array = np.asarray(three, np.float64)
            if array.shape != (3,) or not np.isfinite(array).all() or (name == "std" and not (array > 0).all()):
                raise ValueRangeError(f"FramePreparation: {name} must be three numbers", got=repr(three)[:80])
            object.__setattr__(self, name, tuple(float(value) for value in array))

    def __call__(self, img: np.ndarray) -> np.ndarray:
        """(3, H', W') float32 of a photo (3, H, W) float32 RGB [0, 255]."""
        x = normalize(img[::-1], mean=self.mean, std=self.std)
        if x.shape[1:] != self.insize:
            x = resize_images(x[None], self.insize, align_corners=False).array[0]
        return x / np.float32(255)

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON has them."""
        return {"insize": list(self.insize), "mean": list(self.mean), "std": list(self.std)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "FramePreparation":
        """What `to_json` gave. Raises KeyError, TypeError or ValueRangeError for what it did not give."""
        return cls(tuple(fields["insize"]), tuple(fields["mean"]), tuple(fields["std"]))

    def describe(self) -> str:
        """In words, for records of weights."""
        mean, std = (", ".join(f"{v:.5g}" for v in three) for three in (self.mean, self.std))
        height, width = self.insize
        return f"{width} x {height} (W x H), stretched bilinearly, BGR; (x - ({mean})) / ({std}) / 255"
