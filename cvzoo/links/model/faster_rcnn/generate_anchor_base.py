"""The anchors of one place."""

from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError


def generate_anchor_base(
    base_size: int = 16, ratios: Sequence[float] = (0.5, 1, 2), anchor_scales: Sequence[float] = (8, 16, 32)
) -> np.ndarray:
    """(K, 4) float32, y_min x_min y_max x_max, around the middle of a square of `base_size` at (0, 0).

    ratios: height over width
    anchor_scales: an anchor's area is (base_size * scale) ** 2
    Returns all scales of the first ratio, then of the second and so on.
    Raises ValueRangeError if a number is not positive or there is none.

    Source: Ren et al., "Faster R-CNN", 2015, section 3.1.1; the middle as in ChainerCV, without whole pixels.
    """
    for name, values in (("base_size", [base_size]), ("ratios", ratios), ("anchor_scales", anchor_scales)):
        if not len(values) or not all(0 < value < float("inf") for value in values):
            raise ValueRangeError(f"generate_anchor_base: {name} must be positive numbers", got=repr(values)[:80])
    side = base_size * np.asarray(anchor_scales, float)
    height = np.outer(np.sqrt(ratios), side).ravel()
    width = np.outer(1 / np.sqrt(ratios), side).ravel()
    middle = base_size / 2
    corners = [middle - height / 2, middle - width / 2, middle + height / 2, middle + width / 2]
    return np.stack(corners, axis=1).astype(np.float32)
