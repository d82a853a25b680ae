"""Data augmentation and preprocessing of training examples for SSD."""

from collections.abc import Sequence

import numpy as np

from cvzoo.links.model.check_objects import ignored_of, objects_of
from cvzoo.links.model.ssd.multibox_coder import MultiboxCoder
from cvzoo.transforms.normalize import normalize
from cvzoo.transforms.sample.colors import RandomDistort
from cvzoo.transforms.sample.crops import RandomCropWithBboxConstraints, RandomExpand
from cvzoo.transforms.sample.flips_and_rotations import RandomFlip
from cvzoo.transforms.sample.resizes import Resize, ResizeWithRandomInterpolation
from cvzoo.transforms.sample.sample import Sample
from cvzoo.transforms.sample.transform import AbstractTransform, Compose, Sometimes


class SSDTransform:
    """Training transform of SSD: (img, bbox, label) to (x, mb_loc, mb_label), for `collate_multibox`.

    The example: img (3, H, W) float32 [0, 255]; bbox (R, 4) float32; label (R,) int32; a fourth value, if there is one,
    is (R,) bool, True for instances to be ignored, such as crowded ones.

    coder: the model's
    size: (H, W) of the network's input
    mean, std: what images in [0, 255] are normalized by, a number or one per channel; around an image that was made
        smaller is the mean, 0 for the network
    augment: False: the image is resized, without augmentation

    In order: color distortion; with probability 1/2 a random expansion (zoom out) up to four times the sides; a random
    crop with a minimum IoU; a resize by one of five interpolations; a random horizontal flip. Draws from this thread's
    generator, which iterators seed for every (seed, epoch, index).
    Source: Liu et al., SSD, section 2.2 ("Data augmentation"), and for the canvas 3.6, as ChainerCV has it.
    """

    def __init__(
        self,
        coder: MultiboxCoder,
        size: tuple[int, int],
        *,
        mean: float | Sequence[float] | np.ndarray = (123.0, 117.0, 104.0),
        std: float | Sequence[float] | np.ndarray = 1.0,
        augment: bool = True,
    ):
        steps: list[AbstractTransform] = [Resize(size)]
        if augment:
            steps = [
                RandomDistort(),
                Sometimes(RandomExpand(max_ratio=4, fill=np.broadcast_to(np.ravel(mean), 3)[:, None, None]), 0.5),
                RandomCropWithBboxConstraints(),
                ResizeWithRandomInterpolation(size),
                RandomFlip(x_random=True),
            ]
        self.steps = Compose(steps)
        self.coder = coder
        self.mean, self.std = np.ravel(mean), np.ravel(std)

    def __call__(self, example: tuple) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x, *objects = self._augmented(example)
        return (x, *self.coder.encode(*objects))

    def augmented(self, example: tuple) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(x, bbox, label): the augmented image with its boxes, pixels of x, before they become targets."""
        x, bbox, label, ignored = self._augmented(example)
        return x, bbox[~ignored], label[~ignored]

    def _augmented(self, example: tuple) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        img, bbox, label, *flags = example
        ignored = ignored_of(flags, len(bbox), transform="SSDTransform", values=("img", "bbox", "label"))
        sample = self.steps(Sample(img=np.asarray(img, np.float32), bbox=bbox, label=label, crowded=ignored))
        return normalize(sample.img, mean=self.mean, std=self.std), *objects_of(sample)
