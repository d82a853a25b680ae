"""Examples of a data set as a YOLO network is trained on them."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.links.model.check_objects import objects_of
from cvzoo.transforms.sample.colors import ColorJitter
from cvzoo.transforms.sample.crops import RandomCropWithBboxConstraints, RandomExpand
from cvzoo.transforms.sample.flips_and_rotations import RandomFlip
from cvzoo.transforms.sample.resizes import Letterbox
from cvzoo.transforms.sample.sample import Sample
from cvzoo.transforms.sample.transform import AbstractTransform, Compose, Sometimes


class YOLOTransform:
    """`transform((img, bbox, label))` is (x, bbox, label, ignored), what `collate_photos` and `YOLOLoss` take.

    The example: img (3, H, W) float32 [0, 255]; bbox (R, 4) float32; label (R,) int32; a fourth value, if there is one,
    is (R,) bool of instances not to be learned, such as crowded ones.

    size: (H, W) of the network's input
    augment: False: the image is put into its letterbox, and nothing else
    jitter: strength of the change of brightness and saturation; hue: of hue, in turns
    min_side: instances of which a side is shorter than this after all are ignored, pixels

    In order: colours are changed; every other image becomes a part of a canvas up to twice as high and as wide; a part
    is cut out that covers an object by a drawn share; it is put into its letterbox; every other one is mirrored. Draws
    from this thread's generator, which iterators set for every (seed, epoch, index).
    Source: darknet's yolov3.cfg (saturation, exposure 1.5, hue .1, jitter .3). Where we differ: its jitter is a crop or
    a margin of 30 % at most, ours SSD's canvas and crop.
    """

    def __init__(
        self,
        size: tuple[int, int],
        *,
        augment: bool = True,
        jitter: float = 0.5,
        hue: float = 0.1,
        min_side: float = 1.0,
    ):
        steps: list[AbstractTransform] = [Letterbox(size)]
        if augment:
            steps = [
                ColorJitter(brightness=jitter, saturation=jitter, hue=hue),
                Sometimes(RandomExpand(max_ratio=2, fill=127.5), 0.5),
                RandomCropWithBboxConstraints(),
                Letterbox(size),
                RandomFlip(x_random=True),
            ]
        self.steps = Compose(steps)
        self.min_side = min_side

    def __call__(self, example: tuple) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        img, bbox, label, *flags = example
        ignored = np.asarray(flags[0]) if flags else np.zeros(len(bbox), bool)
        if ignored.shape != (len(bbox),) or ignored.dtype != bool:
            raise ShapeError(
                "YOLOTransform: an example's fourth value says which boxes are not to be learned",
                expected=f"({len(bbox)},) bool",
                got=f"{ignored.shape} {ignored.dtype}",
                hint='dataset.slice[:, ("img", "bbox", "label")] leaves other values out',
            )
        sample = self.steps(Sample(img=np.asarray(img, np.float32), bbox=bbox, label=label, crowded=ignored))
        x = np.asarray(sample.img, np.float32) * np.float32(1 / 255)
        bbox, label, crowded = objects_of(sample)
        small = ((bbox[:, 2:] - bbox[:, :2]) < self.min_side).any(axis=1)
        return x, bbox.astype(np.float32), label.astype(np.int32), crowded | small
