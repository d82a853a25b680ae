"""A data set whose examples are mixed of several of another one: mosaic, mixup, copy-paste."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cvzoo.config.batch_context import example_epoch
from cvzoo.config.randomness import random_generator
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.sequence_dataset import as_sliceable
from cvzoo.errors.exceptions import ExampleError, ValueRangeError
from cvzoo.transforms.sample.mixes import AbstractMix
from cvzoo.transforms.sample.sample import Sample
from cvzoo.typing.aliases import Array
from cvzoo.typing.protocols import IndexableDataset


class MixedDataset(AbstractSliceableDataset):
    """Mixes each example of a data set with random other ones, before the transform of training.

    >>> mosaics = MixedDataset(train, transforms.Mosaic((640, 640)), prob=0.5, until_epoch=40)
    >>> examples = TransformDataset(MixedDataset(mosaics, transforms.MixUp(), prob=0.15), keys, transform)

    dataset: its keys are fields of `transforms.Sample`, such as img, bbox, label, crowded; or img and label, if that is
        a label map (H, W). Boxes, masks, points, flags and label maps are mixed along, and keys stay as they are
    mix: makes one sample of several
    prob: probability of mixing; other examples are returned as they are
    until_epoch: from this epoch of the iterator on, counted from 0, nothing is mixed; None: to the end. The last epochs
        without it let the network see images as they will be (YOLOX, 2021, section 2.1)
    before: a transform of each of the samples before they are mixed, such as a random scale for copy-paste

    The others are drawn from all examples, with replacement, by `cvzoo.config`'s generator, which iterators seed for
    every example: the same seed, epoch and index give the same bits in any worker, and after a resume.
    Raises ValueRangeError if prob is not in [0, 1], if a key is no field of a sample, or if the mix drops it, as all do
    with one class per image (see SoftLabelMixDataset); ExampleError if one of the others cannot be read.
    """

    def __init__(
        self,
        dataset: IndexableDataset[Any],
        mix: AbstractMix,
        *,
        prob: float = 1.0,
        until_epoch: int | None = None,
        before: Callable[[Sample], Sample] | None = None,
    ) -> None:
        if not 0 <= prob <= 1:
            raise ValueRangeError("MixedDataset: prob must be in [0, 1]", got=prob)
        self._dataset = as_sliceable(dataset)
        self._mix = mix
        self._prob = prob
        self._until_epoch = until_epoch
        self._before = before

    def __len__(self) -> int:
        return len(self._dataset)

    @property
    def keys(self) -> str | tuple[str, ...]:
        return self._dataset.keys

    def name(self, index: int) -> str:
        return self._dataset.name(index)

    def get_example_by_keys(self, index: int, key_indices: Sequence[int]) -> tuple[Any, ...]:
        keys = self.keys
        if isinstance(keys, str) or not {"img"} < set(keys) <= set(Sample.__dataclass_fields__):
            raise ValueRangeError(
                "MixedDataset: the keys of the data set must be fields of a sample",
                expected="img and some of bbox, label, mask, point, visible, label_map, difficult, crowded, area",
                got=keys,
            )
        example = self._dataset.get_example(index)
        if not self._is_mixed():
            return tuple(example[k] for k in key_indices)
        # the iterator has seeded the generator for this example, so the others are the same in every run
        others = random_generator().integers(len(self), size=self._mix.n_other)
        examples = [example, *(self._other(int(other), index) for other in others)]
        # of semantic segmentation, label is the label map
        fields = ["label_map" if key == "label" and np.ndim(each) == 2 else key for key, each in zip(keys, example)]
        samples = [Sample(**dict(zip(fields, each))) for each in examples]
        if self._before is not None:
            samples = [self._before(sample) for sample in samples]
        values = self._mix(samples).values(fields)
        dropped = [key for key, value in zip(keys, values) if value is None]
        if dropped:
            raise ValueRangeError(
                f"{type(self._mix).__name__} cannot mix {', '.join(dropped)}",
                hint="SoftLabelMixDataset for images with one class each",
            )
        return tuple(values[k] for k in key_indices)

    def _is_mixed(self) -> bool:
        if self._until_epoch is not None and example_epoch() >= self._until_epoch:
            return False
        return random_generator().random() < self._prob

    def _other(self, other: int, index: int) -> tuple[Array, ...]:
        try:
            return self._dataset.get_example(other)
        except ExampleError:
            raise
        except Exception as error:
            raise ExampleError(
                f"{self.name(other)} cannot be read, to be mixed with {self.name(index)}: "
                f"{type(error).__name__}: {error}"
            ) from error
