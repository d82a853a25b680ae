"""Data augmentation and preprocessing of training examples for Mask R-CNN."""

from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.rle import RLEs
from cvzoo.links.model.check_objects import as_uint8, ignored_of, objects_of
from cvzoo.links.model.retinanet.augmentation import fitting_steps
from cvzoo.transforms.normalize import normalize
from cvzoo.transforms.sample.flips_and_rotations import RandomFlip
from cvzoo.transforms.sample.sample import Sample
from cvzoo.transforms.sample.transform import AbstractTransform

Example = tuple[np.ndarray, np.ndarray, np.ndarray, RLEs, np.ndarray]


class MaskRCNNTransform:
    """Training transform of Mask R-CNN: (img, bbox, label, mask) to (img, bbox, label, mask, ignored).

    The example: img (3, H, W) float32 [0, 255]; bbox (R, 4) float32; label (R,) int32; mask (R, H, W) bool or RLEs; a
    fifth value, if there is one, is (R,) bool, True for instances to be ignored, such as crowded ones. The returned
    masks are RLEs.

    shorts, long: the image's short side becomes one of `shorts`, uniformly, unless the long one would exceed `long`
    flip: whether images are flipped horizontally with probability 1/2
    part: None, or a random crop before the resize, such as `RandomPart((0.4, 1))`
    jitter: strength of the change of brightness, contrast and saturation; 0: none
    min_side: resized instances with a side shorter than this are ignored, pixels
    mean, std: RGB normalization of the image, as in the model's settings

    Draws from this thread's generator, which iterators seed for every (seed, epoch, index).
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
        mean: Sequence[float] = (123.675, 116.28, 103.53),
        std: Sequence[float] = (58.395, 57.12, 57.375),
    ):
        mirror = RandomFlip(x_random=True) if flip else None
        self.steps = fitting_steps(shorts, long, flip=mirror, part=part, jitter=jitter)
        self.min_side = min_side
        self.mean, self.std = np.asarray(mean, np.float32), np.asarray(std, np.float32)

    def __call__(self, example: tuple) -> Example:
        img, bbox, label, mask, *flags = example
        ignored = ignored_of(
            flags,
            len(bbox),
            transform="MaskRCNNTransform",
            values=("img", "bbox", "label", "mask"),
            what="ignored instances",
        )
        mask = mask if isinstance(mask, RLEs) else RLEs.from_masks(mask)
        sample = self.steps(Sample(img=as_uint8(img), bbox=bbox, label=label, mask=mask, crowded=ignored))
        img = normalize(sample.img.astype(np.float32), mean=self.mean, std=self.std)
        bbox, label, crowded = objects_of(sample)
        small = ((bbox[:, 2:] - bbox[:, :2]) < self.min_side).any(axis=1)
        if not isinstance(sample.mask, RLEs):
            raise ShapeError("MaskRCNNTransform: a transform has dropped the run-length encoded masks")
        return img, bbox.astype(np.float32), label, sample.mask, crowded | small
