"""A photo looked at several times, smaller and larger and mirrored, and the mean of what was seen."""

from collections.abc import Callable, Sequence

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.array.resize_images import resize_images


def mean_of_views(
    x: np.ndarray,
    probs_of: Callable[[np.ndarray], np.ndarray],
    *,
    scales: Sequence[float],
    flip: bool,
    align_corners: bool = False,
    multiple: int = 1,
) -> np.ndarray:
    """The mean of the classes' probabilities over all views, (B, n_class, H, W).

    x: (B, C, H, W) prepared photos
    probs_of: from a view (B, C, h, w) to (B, n_class, h, w)
    scales: of the sides, cut off to whole pixels; 1 is x itself
    flip: whether each is looked at in a mirror, too
    align_corners: how a view's probabilities come back to x's size, as in `resize_images`
    multiple: of which a view's sides are made, for networks that take no others
    Raises ValueRangeError if there is no scale, or one is not positive.
    """
    if not scales or not all(scale > 0 for scale in scales):
        raise ValueRangeError("scales must be positive, and at least one", got=repr(scales))
    size, total = x.shape[2:], None
    for scale in scales:
        view = x
        if scale != 1:
            small = [max(1, int(side * scale) // multiple) * multiple for side in size]
            view = resize_images(x, small, align_corners=False, antialias=True).array
        for mirrored in (False, True) if flip else (False,):
            probs = probs_of(view[..., ::-1] if mirrored else view)
            if probs.shape[2:] != size:
                probs = resize_images(probs, size, align_corners=align_corners).array
            probs = probs[..., ::-1] if mirrored else probs
            total = probs if total is None else total + probs
    return total / np.float32(len(scales) * (1 + flip))
