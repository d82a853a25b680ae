"""Data augmentation and preprocessing of training examples for RetinaNet."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.backends.device import get_device
from cvzoo.backends.dispatch import get_backend
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.links.model.check_objects import as_uint8, ignored_of, objects_of
from cvzoo.links.model.preparation.abstract import MEAN_OF_255, STD_OF_255
from cvzoo.links.model.preparation.resize_shortest_edge import fitted_size
from cvzoo.transforms.normalize import normalize
from cvzoo.transforms.sample.colors import ColorJitter
from cvzoo.transforms.sample.flips_and_rotations import RandomFlip
from cvzoo.transforms.sample.geometric import crop_sample, resize_sample
from cvzoo.transforms.sample.sample import Sample
from cvzoo.transforms.sample.transform import AbstractTransform, Compose
from cvzoo.typing.aliases import ArrayLike


class RandomFit(AbstractTransform):
    """Random resize: the short side becomes one of `shorts`, uniformly, unless the long side would exceed `long`."""

    def __init__(self, shorts: Sequence[int], long: int):
        if not shorts or min(shorts) <= 0 or long <= 0:
            raise ValueRangeError("RandomFit: sides must be positive", got=(tuple(shorts), long))
        self.shorts = tuple(shorts)
        self.long = long

    def draw(self, sample: Sample, rng: np.random.Generator) -> dict[str, Any]:
        return {"size": fitted_size(sample.size, self.shorts[int(rng.integers(len(self.shorts)))], self.long)}

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return resize_sample(sample, param["size"])


class RandomPart(AbstractTransform):
    """Random crop, each side a fraction of the image's drawn from `share`.

    min_visible: an instance with less than this fraction of its box inside of the crop becomes crowded: neither
        target nor background. The boxes of the others are clipped
    keep: whether the crop contains the center of an instance, if there is one
    """

    def __init__(self, share: tuple[float, float] = (0.4, 1.0), *, min_visible: float = 0.5, keep: bool = True):
        if not 0 < share[0] <= share[1] <= 1 or not 0 <= min_visible <= 1:
            raise ValueRangeError("RandomPart: fractions must be from 0 to 1", got=(*share, min_visible))
        self.share = share
        self.min_visible = min_visible
        self.keep = keep

    def draw(self, sample: Sample, rng: np.random.Generator) -> dict[str, Any]:
        bbox = sample.bbox
        pick = rng.random()
        middle = None
        if self.keep and bbox is not None and len(bbox):
            bb = bbox[int(pick * len(bbox))]
            middle = (bb[:2] + bb[2:]) / 2
        window = {}
        for axis, name in enumerate(("y_slice", "x_slice")):
            full = sample.size[axis]
            side = min(max(round(full * float(rng.uniform(*self.share))), 1), full)
            low, high = 0, full - side
            if middle is not None:
                low = min(max(low, int(middle[axis]) + 1 - side), high)
                high = max(min(high, int(middle[axis])), low)
            start = low + int(rng.random() * (high - low + 1))
            window[name] = slice(start, start + side)
        return window

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        bbox = sample.bbox
        if bbox is not None:
            y_slice, x_slice = param["y_slice"], param["x_slice"]
            low = np.array([y_slice.start, x_slice.start], np.float32)
            high = np.array([y_slice.stop, x_slice.stop], np.float32)
            left = np.maximum(np.minimum(bbox[:, 2:], high) - np.maximum(bbox[:, :2], low), 0).prod(axis=1)
            hidden = left < self.min_visible * (bbox[:, 2:] - bbox[:, :2]).prod(axis=1)
            crowded = hidden if sample.crowded is None else hidden | sample.crowded
            sample = dataclasses.replace(sample, crowded=crowded)
        return crop_sample(sample, **param)


def fitting_steps(
    shorts: Sequence[int], long: int, *, flip: AbstractTransform | None, part: AbstractTransform | None, jitter: float
) -> Compose:
    """The steps that detectors with a feature pyramid share: `part`, RandomFit to `shorts` and `long`, flip, jitter.

    flip, part: None: no such step; jitter: strength of the change of brightness, contrast and saturation; 0: none
    """
    color = ColorJitter(brightness=jitter, contrast=jitter, saturation=jitter) if jitter else None
    return Compose([each for each in (part, RandomFit(shorts, long), flip, color) if each is not None])


class RetinaNetTransform:
    """Training transform of RetinaNet: (img, bbox, label) to (img, bbox, label, ignored), for `collate_images`.

    The example: img (3, H, W) float32 [0, 255]; bbox (R, 4) float32; label (R,) int32; a fourth value, if there is one,
    is (R,) bool, True for instances to be ignored, such as difficult or crowded ones.

    shorts, long: the image's short side becomes one of `shorts`, uniformly, unless the long one would exceed `long`
    flip: whether images are flipped horizontally with probability 1/2
    part: None, or a random crop before the resize, such as `RandomPart((0.4, 1))`
    jitter: strength of the change of brightness, contrast and saturation; 0: none
    min_side: resized instances with a side shorter than this are ignored, pixels
    mean, std: normalization of the image

    Draws from this thread's generator, which iterators seed for every (seed, epoch, index); a transform for evaluation
    has one short side, and no flip, part or jitter.
    """

    def __init__(
        self,
        shorts: Sequence[int],
        long: int,
        *,
        flip: bool = True,
        part: AbstractTransform | None = None,
        jitter: float = 0.0,
        min_side: float = 1.0,
        mean: ArrayLike = MEAN_OF_255,
        std: ArrayLike = STD_OF_255,
    ):
        mirror = RandomFlip(x_random=True) if flip else None
        self.steps = fitting_steps(shorts, long, flip=mirror, part=part, jitter=jitter)
        self.min_side = min_side
        self.mean, self.std = mean, std

    def __call__(self, example: tuple) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        img, bbox, label, *flags = example
        ignored = ignored_of(flags, len(bbox), transform="RetinaNetTransform", values=("img", "bbox", "label"))
        sample = self.steps(Sample(img=as_uint8(img), bbox=bbox, label=label, crowded=ignored))
        img = normalize(sample.img.astype(np.float32), mean=self.mean, std=self.std)
        bbox, label, crowded = objects_of(sample)
        small = ((bbox[:, 2:] - bbox[:, :2]) < self.min_side).any(axis=1)
        return img, bbox.astype(np.float32), label.astype(np.int32), crowded | small


def collate_images(batch: Sequence[tuple], device: str | int | None = None, *, multiple: int = 32) -> tuple:
    """Collate examples into a batch (x, then a list for each further value): a converter for updaters.

    batch: tuples whose first value is an image (C, H, W) float32, preprocessed, and of any size; what
        follows, such as bbox, label and ignored, is passed on as lists with one element per image
    device: of x; None: the CPU; boxes and the like are not moved
    multiple: sides of x are rounded up to multiples of it
    Returns x (B, C, H', W') float32, channels-last in memory, images padded at the bottom and right with zeros,
    the mean of normalized images.
    Raises ShapeError if the batch is empty, or its images are not (C, H, W) with one C.
    """
    if not batch:
        raise ShapeError("collate_images: the batch is empty")
    imgs, *others = zip(*batch)
    if any(img.ndim != 3 or img.shape[0] != imgs[0].shape[0] for img in imgs):
        raise ShapeError("collate_images: images must be (C, H, W)", got=[img.shape for img in imgs])
    height, width = (-(-max(sides) // multiple) * multiple for sides in zip(*(img.shape[1:] for img in imgs)))
    x = get_backend().zeros((len(imgs), imgs[0].shape[0], height, width), np.float32)
    for row, img in zip(x, imgs):
        row[:, : img.shape[1], : img.shape[2]] = img
    return (x if device is None else get_device(device).asarray(x), *map(list, others))


collate_photos = collate_images  # its former name
