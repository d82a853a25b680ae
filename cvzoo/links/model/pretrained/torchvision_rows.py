"""Which rows of the last layers of torchvision's detectors are taken, and in which order their offsets are ours."""

from collections.abc import Sequence

import numpy as np

from cvzoo.labels.coco_categories import unused_coco_categories

N_TORCHVISION_CLASS = 91
# each row is of COCO's category of that number: row 0 and those of categories that COCO gave up were never trained
COCO_ROWS = np.array([i for i in range(1, N_TORCHVISION_CLASS) if i not in unused_coco_categories])


def sigmoid_rows(n_class: int, n_fg_class: int | None) -> np.ndarray:
    """Which of n_class rows without a background's are taken: of torchvision's 91 all if 91 classes are asked for, all
    but the unused first if 90 are, else those of COCO's 80."""
    if n_class != N_TORCHVISION_CLASS or n_fg_class == N_TORCHVISION_CLASS:
        return np.arange(n_class)
    return np.arange(1, n_class) if n_fg_class == N_TORCHVISION_CLASS - 1 else COCO_ROWS


def foreground_rows(n_class: int, n_fg_class: int | None) -> np.ndarray:
    """Which of n_class rows with a background's, the first, are of the classes that a model has: of torchvision's 91
    those of COCO's 80, unless 90 classes are asked for."""
    if n_class == N_TORCHVISION_CLASS and n_fg_class != N_TORCHVISION_CLASS - 1:
        return COCO_ROWS
    return np.arange(1, n_class)


def picked(array: np.ndarray, n: int, rows: Sequence[int] | np.ndarray) -> np.ndarray:
    """(K * n, ...) as (K * len(rows), ...): some of each n rows."""
    return array.reshape(-1, n, *array.shape[1:])[:, rows].reshape(-1, *array.shape[1:])


def yx_rows(array: np.ndarray) -> np.ndarray:
    """(4 * K, ...) of dx dy dw dh as (4 * K, ...) of dy dx dh dw."""
    return np.ascontiguousarray(picked(array, 4, [1, 0, 3, 2]))
