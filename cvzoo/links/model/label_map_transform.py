"""Data augmentation for semantic segmentation."""

from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.as_size import as_size
from cvzoo.links.model.image_batches import declared_preparation
from cvzoo.links.model.segmenter import AbstractSegmenter
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.crop import crop
from cvzoo.transforms.flip import flip
from cvzoo.transforms.label_maps import crop_label_map, flip_label_map, resize_label_map, rotate_label_map
from cvzoo.transforms.resize import resize
from cvzoo.transforms.rotate import rotate
from cvzoo.transforms.scale import scaled_size

_MEAN = np.array((123.68, 116.779, 103.939), np.float32)  # color of the padding: ImageNet's mean


class LabelMapTransform:
    """(img, label) to (x, label) of one size, for a data set's transform: random scale, rotation, crop and flip.

    model: its `prepare` computes x; it must keep the size of the crop
    size: (H, W) of the crop; None: no crop
    scale_range: range of the random scale
    angle: maximum rotation in degrees, in either direction
    x_flip: flip horizontally with probability 1/2

    The padding around an image has ImageNet's mean color, and -1 in the label map.
    Raises ValueRangeError for an invalid range or angle.
    """

    def __init__(
        self,
        model: AbstractSegmenter,
        size: Sequence[int] | None,
        *,
        scale_range: tuple[float, float] = (1.0, 1.0),
        angle: float = 0.0,
        x_flip: bool = True,
    ):
        if not 0 < scale_range[0] <= scale_range[1]:
            raise ValueRangeError("scale_range must be two positive numbers, the lower first", got=scale_range)
        if angle < 0:
            raise ValueRangeError("angle must not be negative", got=angle)
        # without the network, which would be copied to every data-loading worker, or cannot be once it is compiled
        self.prepare = declared_preparation(model) or model.prepare
        self.size = None if size is None else as_size(size)
        self.scale_range = scale_range
        self.angle = angle
        self.x_flip = x_flip

    def __call__(
        self, example: tuple[np.ndarray, np.ndarray], rng: np.random.Generator | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """x (3, H', W') float32, label (H', W') int32.

        example: img (3, H, W) float32 RGB [0, 255], label (H, W) int32, -1 where unlabeled
        rng: random generator; None: this thread's
        Raises ShapeError if `prepare` changes the size.
        """
        img, label = example
        rng = as_rng(rng)
        low, high = self.scale_range
        if high > low or low != 1:
            scale = rng.uniform(low, high)
            size = tuple(max(1, int(side * scale)) for side in label.shape)
            img = np.clip(resize(img, size, interpolation="bicubic"), 0, 255)
            label = resize_label_map(label, size)
        if self.angle:
            turn = rng.uniform(-self.angle, self.angle)
            img = rotate(img, turn, expand=False, fill=_MEAN)
            label = rotate_label_map(label, turn, expand=False)
        if self.size is not None:
            ys, xs = _window(label.shape, self.size, rng)
            img, label = crop(img, y_slice=ys, x_slice=xs, fill=_MEAN), crop_label_map(label, y_slice=ys, x_slice=xs)
        if self.x_flip and rng.random() < 0.5:
            img, label = flip(img, x_flip=True), flip_label_map(label, x_flip=True)
        x = self.prepare(np.ascontiguousarray(img, np.float32))
        if x.shape[1:] != label.shape:
            raise ShapeError(
                "LabelMapTransform: the model's prepare changes the size",
                expected=label.shape,
                got=x.shape[1:],
                hint="a model whose `short` or `insize` is the size of the crop",
            )
        return x, np.ascontiguousarray(label, np.int32)


def _window(in_size: Sequence[int], size: Sequence[int], rng: np.random.Generator) -> tuple[slice, slice]:
    """A random window of `size` within the image, or along a side that is too short, around it."""
    spans = []
    for have, want in zip(in_size, size):
        start = int(rng.integers(min(0, have - want), max(0, have - want) + 1))
        spans.append(slice(start, start + want))
    return spans[0], spans[1]


class ResizeExamples:
    """(img, label) resized, for a data set's transform.

    size: (H, W), whatever the aspect ratio; short: of the short side instead, with the aspect ratio kept; neither: the
    example as it is
    """

    def __init__(self, size: Sequence[int] | None = None, *, short: int | None = None):
        self.size = None if size is None else as_size(size)
        self.short = short

    def __call__(self, example: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """img (3, H', W') float32, label (H', W') int32."""
        img, label = example
        size = self.size
        if size is None and self.short is not None:
            size = scaled_size(label.shape, short=self.short)
        return example if size is None else (resize(img, size), resize_label_map(label, size))
