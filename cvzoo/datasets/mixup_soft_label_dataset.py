"""Two photos laid over each other, and their labels likewise."""

import numpy as np

from cvzoo.config.randomness import random_generator
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.errors.exceptions import ShapeError, ValueRangeError


class MixUpSoftLabelDataset(GetterDataset):
    """Mixtures of the two examples of each pair: img and a soft label.

    dataset: a data set of img_0, label_0, img_1, label_1, such as SiameseDataset; photos of one size
    n_class: how many classes there are
    alpha: the shares are drawn from the beta distribution (alpha, alpha)

    img: float32, of the pair's shape; label: (n_class,) float32, two shares that sum to 1
    Each access draws anew, from `cvzoo.config`'s generator, which iterators set for every example.
    Source: Zhang et al., "mixup: Beyond Empirical Risk Minimization", 2018.
    """

    def __init__(self, dataset, n_class, alpha=1.0):
        super().__init__()
        if not alpha > 0:
            raise ValueRangeError("MixUpSoftLabelDataset: alpha must be positive", got=alpha)
        self._dataset = dataset
        self._n_class = n_class
        self._alpha = alpha
        self.add_getter(("img", "label"), self._get_mixture)

    def __len__(self):
        return len(self._dataset)

    def _get_mixture(self, i):
        img_0, label_0, img_1, label_1 = self._dataset[i]
        if np.shape(img_0) != np.shape(img_1):
            raise ShapeError(
                "MixUpSoftLabelDataset: photos of different sizes cannot be mixed",
                got=(np.shape(img_0), np.shape(img_1)),
                hint="TransformDataset with a resize",
            )
        if not (0 <= label_0 < self._n_class and 0 <= label_1 < self._n_class):
            raise ValueRangeError(
                "MixUpSoftLabelDataset: a label is outside",
                expected=f"0 .. {self._n_class - 1}",
                got=(label_0, label_1),
            )
        share = random_generator().beta(self._alpha, self._alpha)
        img = (share * img_0 + (1 - share) * img_1).astype(np.float32, copy=False)
        label = np.zeros(self._n_class, np.float32)
        label[label_0] += share
        label[label_1] += 1 - share
        return img, label
