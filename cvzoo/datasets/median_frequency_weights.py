"""Weights of classes that make rare ones count as much as common ones."""

from collections.abc import Iterable

import numpy as np

from cvzoo.errors.exceptions import DatasetError


def median_frequency_weights(labels: Iterable[np.ndarray], n_class: int) -> np.ndarray:
    """(n_class,) float32: the median of the classes' frequencies divided by each; 0 for a class that never comes.

    labels: maps (H, W) of classes, others than 0 .. n_class - 1 do not count
    A class's frequency is its share of the pixels of the photos that show it.
    Raises DatasetError if no map has a pixel of a class.
    Source: Eigen and Fergus, Predicting Depth, Surface Normals and Semantic Labels, ICCV 2015, as SegNet takes it.
    """
    n_pixel = np.zeros(n_class, np.int64)
    n_around = np.zeros(n_class, np.int64)
    for label in labels:
        known = label[(label >= 0) & (label < n_class)]
        counts = np.bincount(known, minlength=n_class)
        n_pixel += counts
        n_around[counts > 0] += label.size
    seen = n_pixel > 0
    if not seen.any():
        raise DatasetError("median_frequency_weights: no map has a pixel of a class")
    frequency = n_pixel[seen] / n_around[seen]
    weights = np.zeros(n_class, np.float32)
    weights[seen] = np.median(frequency) / frequency
    return weights
