"""Mosaic, mixup and copy-paste as objects, for data sets that draw the other samples."""

import abc
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.sample.copy_paste import copy_paste
from cvzoo.transforms.sample.geometric import resize_sample
from cvzoo.transforms.sample.mix_up import mix_up
from cvzoo.transforms.sample.mosaic import mosaic
from cvzoo.transforms.sample.sample import Sample, settle
from cvzoo.typing.aliases import ArrayLike


class AbstractMix(abc.ABC):
    """Base class of augmentations that make one sample of several; `datasets.MixedDataset` draws the others.

    n_other: the number of samples besides the first one
    """

    n_other: ClassVar[int] = 1

    def __call__(self, samples: Sequence[Sample], *, rng: np.random.Generator | None = None) -> Sample:
        """The mixed sample. samples: 1 + n_other; rng: random generator; None is this thread's

        Raises ShapeError for another number of samples.
        """
        if len(samples) != 1 + self.n_other:
            raise ShapeError(
                f"{type(self).__name__}: wrong number of samples", expected=1 + self.n_other, got=len(samples)
            )
        return settle(self.mix(samples, as_rng(rng)))

    @abc.abstractmethod
    def mix(self, samples: Sequence[Sample], rng: np.random.Generator) -> Sample:
        """The mixed sample of 1 + n_other samples."""


class Mosaic(AbstractMix):
    """`mosaic` of four images, each resized with its aspect ratio to fit into `size`, times a random factor.

    size: (H, W) of the mosaic
    scale_range: range of the factor, drawn for each image
    center_range, fill, min_visible: as for `mosaic`
    Raises ValueRangeError if scale_range is not positive and ascending.

    Source: Bochkovskiy et al., "YOLOv4: Optimal Speed and Accuracy of Object Detection", 2020, section 3.3. Where we
    differ: the images are scaled one by one, and boxes of which little is left are dropped.
    """

    n_other = 3

    def __init__(
        self,
        size: Sequence[int],
        *,
        scale_range: tuple[float, float] = (0.5, 1.5),
        center_range: tuple[float, float] = (0.25, 0.75),
        fill: ArrayLike = 114,
        min_visible: float = 0.1,
    ) -> None:
        self.size = as_size(size)
        if not 0 < scale_range[0] <= scale_range[1]:
            raise ValueRangeError("Mosaic: scale_range must be positive and ascending", got=scale_range)
        self.scale_range = scale_range
        self.center_range = center_range
        self.fill = fill
        self.min_visible = min_visible

    def mix(self, samples: Sequence[Sample], rng: np.random.Generator) -> Sample:
        scaled = []
        for sample in samples:
            fit = min(whole / side for whole, side in zip(self.size, sample.size)) * rng.uniform(*self.scale_range)
            scaled.append(resize_sample(sample, [max(round(side * fit), 1) for side in sample.size]))
        return mosaic(
            scaled,
            self.size,
            center_range=self.center_range,
            fill=self.fill,
            min_visible=self.min_visible,
            rng=rng,
        )


class MixUp(AbstractMix):
    """`mix_up` of two images, with the boxes of both; for classes, see `datasets.SoftLabelMixDataset`.

    alpha: as for `mix_up`

    Source: Ge et al., "YOLOX: Exceeding YOLO Series in 2021", 2021, section 2.1. Where we differ: the ratio is drawn;
    YOLOX's is 1/2.
    """

    def __init__(self, alpha: float = 1.5) -> None:
        if not alpha > 0:
            raise ValueRangeError("MixUp: alpha must be positive", got=alpha)
        self.alpha = alpha

    def mix(self, samples: Sequence[Sample], rng: np.random.Generator) -> Sample:
        return mix_up(samples[0], samples[1], alpha=self.alpha, rng=rng)


class CopyPaste(AbstractMix):
    """`copy_paste` of objects of the second image onto the first; crowded ones are not pasted.

    prob, min_visible: as for `copy_paste`
    scale_range: range of a random factor by which the second image is resized
    Raises ValueRangeError for a prob out of [0, 1], or a scale_range that is not positive and ascending.
    """

    def __init__(
        self, prob: float = 0.5, *, min_visible: float = 0.1, scale_range: tuple[float, float] = (1.0, 1.0)
    ) -> None:
        if not 0 <= prob <= 1:
            raise ValueRangeError("CopyPaste: prob must be in [0, 1]", got=prob)
        if not 0 < scale_range[0] <= scale_range[1]:
            raise ValueRangeError("CopyPaste: scale_range must be positive and ascending", got=scale_range)
        self.scale_range = scale_range
        self.prob = prob
        self.min_visible = min_visible

    def mix(self, samples: Sequence[Sample], rng: np.random.Generator) -> Sample:
        source = samples[1]
        if source.crowded is not None:
            source = source.take(~source.crowded)
        if self.scale_range != (1, 1):
            factor = rng.uniform(*self.scale_range)
            source = resize_sample(source, [max(round(side * factor), 1) for side in source.size])
        return copy_paste(samples[0], source, prob=self.prob, min_visible=self.min_visible, rng=rng)
