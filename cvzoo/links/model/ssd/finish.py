"""Boxes of a stretched photo in the photo's own pixels."""

import numpy as np

from cvzoo.geometry.clip_bbox import clip_bbox

Found = tuple[np.ndarray, np.ndarray, np.ndarray]


def boxes_of_photo(found: Found, seen: tuple[int, int], size: tuple[int, int], *, clip: bool) -> Found:
    """bbox (R, 4), label (R,), score (R,) in pixels of the photo; what has no number for a side is dropped.

    found: the same in pixels of the network's input
    seen: (H, W) of the network's input; size: of the photo
    clip: cut boxes at the photo's edges, and drop those of which nothing is left
    """
    bbox, label, score = found
    with np.errstate(invalid="ignore"):
        kept = np.isfinite(bbox).all(axis=1)
        if clip:
            bbox = clip_bbox(bbox, seen)
            kept &= (bbox[:, 2:] > bbox[:, :2]).all(axis=1)
    ratio = np.float32(size) / np.float32(seen)
    return bbox[kept] * np.tile(ratio, 2), label[kept], score[kept]
