"""RandAugment and TrivialAugment: random sequences of simple changes of an image, for classification."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from PIL import Image as PILImage
from PIL import ImageEnhance, ImageOps

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.transforms.keep_dtype import keep_dtype
from cvzoo.transforms.sample.sample import Sample, settle
from cvzoo.transforms.sample.transform import AbstractTransform
from cvzoo.typing.aliases import Image

_N_BIN = 31  # of magnitudes, 0 to 30
Change = Callable[[PILImage.Image, float, tuple[int, ...]], PILImage.Image]


def _affine(matrix: Callable[[float], Sequence[float]]) -> Change:
    def change(img: PILImage.Image, value: float, fill: tuple[int, ...]) -> PILImage.Image:
        return img.transform(
            img.size, PILImage.Transform.AFFINE, matrix(value), PILImage.Resampling.NEAREST, fillcolor=fill
        )

    return change


def _enhance(kind: Callable[[PILImage.Image], Any]) -> Change:
    return lambda img, value, fill: kind(img).enhance(1 + value)


_CHANGES: Mapping[str, Change] = MappingProxyType(
    {
        "identity": lambda img, value, fill: img,
        "shear_x": _affine(lambda value: (1, value, 0, 0, 1, 0)),
        "shear_y": _affine(lambda value: (1, 0, 0, value, 1, 0)),
        "translate_x": _affine(lambda value: (1, 0, value, 0, 1, 0)),
        "translate_y": _affine(lambda value: (1, 0, 0, 0, 1, value)),
        "rotate": lambda img, value, fill: img.rotate(value, PILImage.Resampling.NEAREST, fillcolor=fill),
        "brightness": _enhance(ImageEnhance.Brightness),
        "color": _enhance(ImageEnhance.Color),
        "contrast": _enhance(ImageEnhance.Contrast),
        "sharpness": _enhance(ImageEnhance.Sharpness),
        "posterize": lambda img, value, fill: ImageOps.posterize(img, round(value)),
        "solarize": lambda img, value, fill: ImageOps.solarize(img, round(value)),
        "autocontrast": lambda img, value, fill: ImageOps.autocontrast(img),
        "equalize": lambda img, value, fill: ImageOps.equalize(img),
    }
)
_SIGNED = {"shear_x", "shear_y", "translate_x", "translate_y", "rotate", "brightness", "color", "contrast", "sharpness"}


class RandAugment(AbstractTransform):
    """`n` random changes of an image, one after another, all of one magnitude; for classification.

    n: number of changes, drawn with replacement from 14: identity, shears, translations, rotation, brightness, color,
        contrast, sharpness, posterize, solarize, autocontrast and equalize
    magnitude: 0, the weakest, to 30
    fill: of pixels that a geometric change uncovers

    Values are rounded to uint8 and the dtype is kept.
    Raises ValueRangeError for a setting out of range, ShapeError for an image without three channels, or with boxes,
    masks, points or a label map, which are not changed.
    Source: Cubuk et al., "RandAugment: Practical automated data augmentation with a reduced search space", 2020.
    """

    def __init__(self, n: int = 2, magnitude: int = 9, *, fill: int = 0) -> None:
        if n < 1 or not 0 <= magnitude < _N_BIN or not 0 <= fill <= 255:
            raise ValueRangeError(
                "RandAugment: a setting is out of range",
                expected="n of at least 1, magnitude 0 .. 30, fill 0 .. 255",
                got=(n, magnitude, fill),
            )
        self.n = n
        self.magnitude = magnitude
        self.fill = fill

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        ranges = _ranges(sample.size, wide=False)
        return {"changes": [_drawn(ranges, self.magnitude / (_N_BIN - 1), rng) for _ in range(self.n)]}

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return _changed(sample, param["changes"], self.fill)


class TrivialAugment(AbstractTransform):
    """One random change of an image, of a random magnitude; for classification. It has no strength to tune.

    fill: of pixels that a geometric change uncovers

    The changes are RandAugment's, their ranges the paper's wide ones. Raises ShapeError as RandAugment does.
    Source: Müller and Hutter, "TrivialAugment: Tuning-free Yet State-of-the-Art Data Augmentation", 2021.
    """

    def __init__(self, *, fill: int = 0) -> None:
        if not 0 <= fill <= 255:
            raise ValueRangeError("TrivialAugment: fill is out of range", expected="0 .. 255", got=fill)
        self.fill = fill

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        strength = int(rng.integers(_N_BIN)) / (_N_BIN - 1)
        return {"changes": [_drawn(_ranges(sample.size, wide=True), strength, rng)]}

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return _changed(sample, param["changes"], self.fill)


def _ranges(size: Sequence[int], *, wide: bool) -> dict[str, tuple[float, float]]:
    """(value at strength 0, value at strength 1) of every change."""
    height, width = size
    factor = 0.99 if wide else 0.9
    # RandAugment's translations are 150 / 331 of a side, the paper's of TrivialAugment 32 pixels
    translations = (32.0, 32.0) if wide else (150 / 331 * width, 150 / 331 * height)
    return {
        "identity": (0, 0),
        "shear_x": (0, factor if wide else 0.3),
        "shear_y": (0, factor if wide else 0.3),
        "translate_x": (0, translations[0]),
        "translate_y": (0, translations[1]),
        "rotate": (0, 135 if wide else 30),
        "brightness": (0, factor),
        "color": (0, factor),
        "contrast": (0, factor),
        "sharpness": (0, factor),
        "posterize": (8, 2 if wide else 4),
        "solarize": (255, 0),
        "autocontrast": (0, 0),
        "equalize": (0, 0),
    }


def _drawn(ranges: Mapping[str, tuple[float, float]], strength: float, rng: np.random.Generator) -> tuple[str, float]:
    names = list(_CHANGES)
    name = names[int(rng.integers(len(names)))]
    low, high = ranges[name]
    sign = -1 if rng.random() < 0.5 and name in _SIGNED else 1
    return name, sign * (low + (high - low) * strength)


def _changed(sample: Sample, changes: Sequence[tuple[str, float]], fill: int) -> Sample:
    sample = settle(sample)
    if len(sample.img) != 3 or sample.instances() or sample.label_map is not None:
        raise ShapeError(
            "this augmentation is for classification: a color image without boxes, masks, points or a label map",
            got=", ".join([f"{len(sample.img)} channels", *sample.instances()]),
        )
    return Sample(img=_apply(sample.img, changes, fill), label=sample.label)


def _apply(img: Image, changes: Sequence[tuple[str, float]], fill: int) -> Image:
    pixels = np.clip(np.rint(img), 0, 255).astype(np.uint8) if img.dtype != np.uint8 else img
    image = PILImage.fromarray(np.ascontiguousarray(pixels.transpose(1, 2, 0)))
    for name, value in changes:
        image = _CHANGES[name](image, value, (fill,) * 3)
    changed = np.ascontiguousarray(np.asarray(image).transpose(2, 0, 1))
    return keep_dtype(changed.astype(np.float32), img.dtype) if img.dtype != np.uint8 else changed
