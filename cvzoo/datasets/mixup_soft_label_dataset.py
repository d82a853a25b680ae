"""mixup: convex combinations of pairs of images and labels."""

from typing import Any

import numpy as np

from cvzoo.config.randomness import random_generator
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array, Image
from cvzoo.typing.protocols import IndexableDataset


class MixUpSoftLabelDataset(GetterDataset):
    """Convex combinations of the two examples of each pair: img and a soft label (mixup).

    dataset: a data set of img_0, label_0, img_1, label_1, such as SiameseDataset; images of one size
    n_class: number of classes
    alpha: the mixing ratio is drawn from the beta distribution Beta(alpha, alpha)

    img: float32, of the pair's shape; label: (n_class,) float32, sums to 1
    Each access draws a new ratio from `cvzoo.config`'s generator, which iterators seed for every example.
    Source: Zhang et al., "mixup: Beyond Empirical Risk Minimization", 2018.
    """

    def __init__(self, dataset: IndexableDataset[Any], n_class: int, alpha: float = 1.0) -> None:
        super().__init__()
        if not alpha > 0:
            raise ValueRangeError("MixUpSoftLabelDataset: alpha must be positive", got=alpha)
        self._dataset = dataset
        self._n_class = n_class
        self._alpha = alpha
        self.add_getter(("img", "label"), self._get_mixture)

    def __len__(self) -> int:
        return len(self._dataset)

    def _get_mixture(self, i: int) -> tuple[Image, Array]:
        img_0, label_0, img_1, label_1 = self._dataset[i]
        if np.shape(img_0) != np.shape(img_1):
            raise ShapeError(
                "MixUpSoftLabelDataset: images of different sizes cannot be mixed",
                got=(np.shape(img_0), np.shape(img_1)),
                hint="TransformDataset with a resize",
            )
        if not (0 <= label_0 < self._n_class and 0 <= label_1 < self._n_class):
            raise ValueRangeError(
                "MixUpSoftLabelDataset: a label is out of range",
                expected=f"0 .. {self._n_class - 1}",
                got=(label_0, label_1),
            )
        ratio = random_generator().beta(self._alpha, self._alpha)
        img = (ratio * img_0 + (1 - ratio) * img_1).astype(np.float32, copy=False)
        label = np.zeros(self._n_class, np.float32)
        label[label_0] += ratio
        label[label_1] += 1 - ratio
        return img, label
