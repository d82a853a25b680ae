"""Data augmentation and preprocessing of training examples for YOLO."""

import numpy as np

from cvzoo.links.model.check_objects import ignored_of, objects_of
from cvzoo.links.model.yolo.preparation import Fit
from cvzoo.transforms.sample.colors import ColorJitter
from cvzoo.transforms.sample.crops import RandomCropWithBboxConstraints, RandomExpand
from cvzoo.transforms.sample.flips_and_rotations import RandomFlip
from cvzoo.transforms.sample.resizes import Letterbox, Resize
from cvzoo.transforms.sample.sample import Sample
from cvzoo.transforms.sample.transform import AbstractTransform, Compose, Sometimes


class YOLOTransform:
    """Training transform of YOLO: (img, bbox, label) to (x, bbox, label, ignored), for `collate_images`.

    The example: img (3, H, W) float32 [0, 255]; bbox (R, 4) float32; label (R,) int32; a fourth value, if there is one,
    is (R,) bool, True for instances to be ignored, such as crowded ones.

    size: (H, W) of the network's input
    augment: False: the image is resized only
    fit: how it is resized: "letterbox" keeps its proportions, "stretch" does not
    jitter: strength of the change of brightness and saturation; hue: of hue, in turns
    min_side: resized instances with a side shorter than this are ignored, pixels

    In order: color jitter; with probability 1/2 a random expansion (zoom out) up to twice the sides; a random crop with
    a minimum IoU; the resize; a random horizontal flip. Draws from this thread's generator, which iterators seed for
    every (seed, epoch, index).
    Source: darknet's yolov3.cfg (saturation, exposure 1.5, hue .1, jitter .3). Where we differ: its jitter is a crop or
    a margin of at most 30 %, ours SSD's canvas and crop.
    """

    def __init__(
        self,
        size: tuple[int, int],
        *,
        augment: bool = True,
        fit: Fit = "letterbox",
        jitter: float = 0.5,
        hue: float = 0.1,
        min_side: float = 1.0,
    ):
        resized: AbstractTransform = Letterbox(size) if fit == "letterbox" else Resize(size)
        steps = [resized]
        if augment:
            steps = [
                ColorJitter(brightness=jitter, saturation=jitter, hue=hue),
                Sometimes(RandomExpand(max_ratio=2, fill=127.5), 0.5),
                RandomCropWithBboxConstraints(),
                resized,
                RandomFlip(x_random=True),
            ]
        self.steps = Compose(steps)
        self.min_side = min_side

    def __call__(self, example: tuple) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        img, bbox, label, *flags = example
        ignored = ignored_of(flags, len(bbox), transform="YOLOTransform", values=("img", "bbox", "label"))
        sample = self.steps(Sample(img=np.asarray(img, np.float32), bbox=bbox, label=label, crowded=ignored))
        x = np.asarray(sample.img, np.float32) * np.float32(1 / 255)
        bbox, label, crowded = objects_of(sample)
        small = ((bbox[:, 2:] - bbox[:, :2]) < self.min_side).any(axis=1)
        return x, bbox.astype(np.float32), label.astype(np.int32), crowded | small
