"""Class weights by median frequency balancing, for the loss of semantic segmentation."""

from collections.abc import Iterable

import numpy as np

from cvzoo.errors.exceptions import DatasetError
from cvzoo.typing.aliases import Array, ClassMap


def median_frequency_weights(labels: Iterable[ClassMap], n_class: int) -> Array:
    """(n_class,) float32: the median class frequency divided by that of each class; 0 for a class that never occurs.

    labels: label maps (H, W); values outside of 0 .. n_class - 1 are ignored
    The frequency of a class is its fraction of the pixels of those images that contain it.
    Raises DatasetError if no label map contains any class.
    Source: Eigen and Fergus, Predicting Depth, Surface Normals and Semantic Labels, ICCV 2015, as used by SegNet.
    """
    n_pixel = np.zeros(n_class, np.int64)
    n_pixel_of_images = np.zeros(n_class, np.int64)
    for label in labels:
        known = label[(label >= 0) & (label < n_class)]
        counts = np.bincount(known, minlength=n_class)
        n_pixel += counts
        n_pixel_of_images[counts > 0] += label.size
    occurs = n_pixel > 0
    if not occurs.any():
        raise DatasetError("median_frequency_weights: no label map contains any class")
    frequency = n_pixel[occurs] / n_pixel_of_images[occurs]
    weights = np.zeros(n_class, np.float32)
    weights[occurs] = np.median(frequency) / frequency
    return weights
