"""mixup and CutMix of images with one class each."""

from typing import Any

import numpy as np

from cvzoo.config.batch_context import example_epoch
from cvzoo.config.randomness import random_generator
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.transforms.sample.mix_up import cut_mix, mix_up
from cvzoo.transforms.sample.sample import Sample
from cvzoo.typing.aliases import Array, Image
from cvzoo.typing.protocols import IndexableDataset


class SoftLabelMixDataset(GetterDataset):
    """Each image mixed with a random other one by mixup or CutMix: img and the classes' probabilities.

    >>> mixed = SoftLabelMixDataset(TransformDataset(train, ("img", "label"), transform), 1000, mix_up=0.2, cut_mix=1.0)

    dataset: (img, label) of one size, the last step of the data augmentation
    n_class: number of classes
    mix_up, cut_mix: alpha of the ratio's beta distribution, 0: never; if both are positive, each is used for half of
        the examples
    prob: probability of mixing
    smoothing: label smoothing: the fraction of the probability that is spread evenly over all classes
    until_epoch: from this epoch of the iterator on nothing is mixed; None: to the end

    img: float32, the images' shape; label: (n_class,) float32, sums to 1, for `softmax_cross_entropy`
    The random numbers are `cvzoo.config`'s, which iterators seed for every example.
    Raises ValueRangeError for a setting or a label out of range, ShapeError for images of different sizes.
    Source: Zhang et al., "mixup: Beyond Empirical Risk Minimization", 2018; Yun et al., "CutMix", 2019; Szegedy et al.,
    "Rethinking the Inception Architecture", 2016, section 7. Where we differ: the papers mix a batch with itself.
    """

    def __init__(
        self,
        dataset: IndexableDataset[Any],
        n_class: int,
        *,
        mix_up: float = 0.2,
        cut_mix: float = 1.0,
        prob: float = 1.0,
        smoothing: float = 0.0,
        until_epoch: int | None = None,
    ) -> None:
        super().__init__()
        if min(mix_up, cut_mix) < 0:
            raise ValueRangeError("SoftLabelMixDataset: alphas must not be negative", got=(mix_up, cut_mix))
        if not 0 <= prob <= 1 or not 0 <= smoothing < 1:
            raise ValueRangeError("SoftLabelMixDataset: prob or smoothing is out of range", got=(prob, smoothing))
        self._dataset = dataset
        self._n_class = n_class
        self._alphas = mix_up, cut_mix
        self._prob = prob if max(mix_up, cut_mix) > 0 else 0.0
        self._smoothing = smoothing
        self._until_epoch = until_epoch
        self.add_getter(("img", "label"), self._get_mixture)

    def __len__(self) -> int:
        return len(self._dataset)

    def _get_mixture(self, i: int) -> tuple[Image, Array]:
        rng = random_generator()
        img, target = self._read(i)
        is_off = self._until_epoch is not None and example_epoch() >= self._until_epoch
        if not is_off and rng.random() < self._prob:
            other, other_target = self._read(int(rng.integers(len(self._dataset))))
            if img.shape != other.shape:
                raise ShapeError(
                    "SoftLabelMixDataset: images of different sizes cannot be mixed",
                    expected=img.shape,
                    got=other.shape,
                    hint="TransformDataset with a crop or a resize to one size",
                )
            img, ratio = self._mix(Sample(img=img), Sample(img=other), rng)
            target = np.float32(ratio) * target + np.float32(1 - ratio) * other_target
        return img, target

    def _mix(self, a: Sample, b: Sample, rng: np.random.Generator) -> tuple[Image, float]:
        of_mix_up, of_cut_mix = self._alphas
        cuts = rng.random() < 0.5 if min(self._alphas) > 0 else of_cut_mix > 0
        if cuts:
            mixed, param = cut_mix(a, b, alpha=of_cut_mix, return_param=True, rng=rng)
        else:
            mixed, param = mix_up(a, b, alpha=of_mix_up, return_param=True, rng=rng)
        return mixed.img, float(param["ratio"])

    def _read(self, i: int) -> tuple[Image, Array]:
        img, label = self._dataset[i]
        if not 0 <= label < self._n_class:
            raise ValueRangeError(
                "SoftLabelMixDataset: a label is out of range", expected=f"0 .. {self._n_class - 1}", got=int(label)
            )
        target = np.full(self._n_class, self._smoothing / self._n_class, np.float32)
        target[label] += 1 - self._smoothing
        return np.asarray(img, np.float32), target
