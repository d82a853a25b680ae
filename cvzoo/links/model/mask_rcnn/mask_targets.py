"""What a mask head should say about regions."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.roi.roi_average_align_2d import roi_average_align_2d
from cvzoo.geometry.rle import RLEs


def mask_targets(masks: np.ndarray | RLEs, bbox: np.ndarray, match: np.ndarray, size: int) -> np.ndarray:
    """(N, size, size) int32: 1 where at least half of a cell belongs to the object.

    masks: (R, H, W) bool of a photo, pixels of the network's input, or RLEs of such
    bbox: (N, 4) float32, regions; match: (N,) int, the object of each
    Raises ShapeError if masks are not (R, H, W).
    """
    target = np.zeros((len(bbox), size, size), np.int32)
    for r in np.unique(match):
        mask = masks[int(r)].to_masks()[0] if isinstance(masks, RLEs) else np.asarray(masks)[r]
        if mask.ndim != 2:
            raise ShapeError("masks must be (R, H, W)", got=np.shape(masks))
        index = np.flatnonzero(match == r)
        x = mask[None, None].astype(np.float32)
        cover = roi_average_align_2d(x, bbox[index], np.zeros(len(index), np.int32), size, 1.0, None, aligned=True)
        target[index] = cover.array[:, 0] >= 0.5
    return target
