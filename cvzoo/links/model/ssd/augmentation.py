"""Examples of a data set as an SSD is trained on them."""

from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.links.model.check_objects import objects_of
from cvzoo.links.model.ssd.multibox_coder import MultiboxCoder
from cvzoo.transforms.normalize import normalize
from cvzoo.transforms.sample.colors import RandomDistort
from cvzoo.transforms.sample.crops import RandomCropWithBboxConstraints, RandomExpand
from cvzoo.transforms.sample.flips_and_rotations import RandomFlip
from cvzoo.transforms.sample.resizes import Resize, ResizeWithRandomInterpolation
from cvzoo.transforms.sample.sample import Sample
from cvzoo.transforms.sample.transform import AbstractTransform, Compose, Sometimes


class SSDTransform:
    """`transform((img, bbox, label))` is (x, mb_loc, mb_label), what `collate_multibox` and `SSDLoss` take.

    The example: img (3, H, W) float32 [0, 255]; bbox (R, 4) float32; label (R,) int32; a fourth value, if there is one,
    is (R,) bool of instances not to be learned, such as crowded ones.

    coder: the model's
    size: (H, W) of the network's input
    mean, std: what images in [0, 255] are normalized by, a number or one per channel; around an image that was made
        smaller is the mean, 0 for the network
    augment: False: the image is stretched, and nothing else

    In order: colours are changed; every other image becomes a part of a canvas up to four times as high and as wide; a
    part is cut out that covers an object by a drawn share; it is stretched, by one of five interpolations; every other
    one is mirrored. Draws from this thread's generator, which iterators set for every (seed, epoch, index).
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
        img, bbox, label, *flags = example
        ignored = np.asarray(flags[0]) if flags else np.zeros(len(bbox), bool)
        if ignored.shape != (len(bbox),) or ignored.dtype != bool:
            raise ShapeError(
                "SSDTransform: an example's fourth value says which boxes are not to be learned",
                expected=f"({len(bbox)},) bool",
                got=f"{ignored.shape} {ignored.dtype}",
                hint='dataset.slice[:, ("img", "bbox", "label")] leaves other values out',
            )
        sample = self.steps(Sample(img=np.asarray(img, np.float32), bbox=bbox, label=label, crowded=ignored))
        x = normalize(sample.img, mean=self.mean, std=self.std)
        return (x, *self.coder.encode(*objects_of(sample)))
