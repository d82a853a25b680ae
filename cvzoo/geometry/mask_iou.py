"""Intersection over union of dense binary masks."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.rle import RLEs
from cvzoo.geometry.rle_iou import rle_iou
from cvzoo.typing.aliases import Array, ArrayLike


def mask_iou(mask_a: ArrayLike, mask_b: ArrayLike) -> Array:
    """Intersection over union of every pair of masks.

    mask_a: (N, H, W) bool; mask_b: (K, H, W) bool
    Returns (N, K) float64 in [0, 1]; 0 where both masks are empty.
    Raises ShapeError if either is not (*, H, W) or their sizes differ.
    """
    mask_a, mask_b = np.asarray(mask_a), np.asarray(mask_b)
    if mask_a.ndim != 3 or mask_b.ndim != 3 or mask_a.shape[1:] != mask_b.shape[1:]:
        raise ShapeError("mask_a and mask_b must be (N, H, W) and (K, H, W)", got=(mask_a.shape, mask_b.shape))
    return rle_iou(RLEs.from_masks(mask_a), RLEs.from_masks(mask_b))
