"""Examples of a data set as an FCIS is trained on them."""

from collections.abc import Sequence

import numpy as np

from cvzoo.config.randomness import random_generator
from cvzoo.links.model.check_objects import ignored_of
from cvzoo.links.model.faster_rcnn.transform import drawn, scaled_preparations
from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101
from cvzoo.transforms.flip import flip
from cvzoo.transforms.masks import flip_mask, resize_mask


class FCISTransform:
    """`transform((img, mask, label))` is (img, mask, label, scale, size), which `collate_photos` gathers.

    The example: img (3, H, W) RGB [0, 255]; mask (R, H, W) bool; label (R,) int32; a fourth value, if there is one, is
    (R,) bool of instances not to be learned, such as crowded ones: they are left out, and so are masks of which nothing
    is left in the resized image.
    model: which prepares images; its sizes and mean are taken over
    x_flip: mirror every other image from left to right, drawn from this thread's generator
    scales: short sides as fractions of the model's `min_size`, one of which is drawn for each image
    """

    def __init__(self, model: FCISResNet101, *, x_flip: bool = True, scales: Sequence[float] = (1.0,)):
        self.preparations = scaled_preparations(model.preparation, scales)
        self.x_flip = x_flip

    def __call__(self, example: tuple) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, tuple[int, int]]:
        img, mask, label, *flags = example
        mask, label = np.asarray(mask, bool), np.asarray(label, np.int32)
        ignored = ignored_of(
            flags,
            len(mask),
            transform="FCISTransform",
            values=("img", "mask", "label"),
            what="instances not to be learned",
        )
        mask, label = mask[~ignored], label[~ignored]
        before = img.shape[1:]
        preparation = drawn(self.preparations)
        img = preparation(np.asarray(img, np.float32))
        after = img.shape[1:]
        resized = preparation.placement(before).resized
        # an image that is hardly more than a line is padded, and its masks with it
        mask = np.pad(resize_mask(mask, resized), ((0, 0), *((0, n - m) for n, m in zip(after, resized))))
        if self.x_flip and random_generator().random() < 0.5:
            img, mask = flip(img, x_flip=True), flip_mask(mask, x_flip=True)
        left = mask.any(axis=(1, 2))
        return img, mask[left], label[left], resized[1] / before[1], after
