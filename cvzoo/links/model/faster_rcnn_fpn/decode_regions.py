"""Boxes from what the second stage says, before suppression."""

from collections.abc import Sequence

import numpy as np

from cvzoo.geometry.clip_bbox import clip_bbox
from cvzoo.geometry.coding import decode_bbox
from cvzoo.links.model.detector import Found

_MIN_SIDE = 1e-2


def decode_regions(
    bbox: np.ndarray,
    loc: np.ndarray,
    conf: np.ndarray,
    *,
    loc_std: Sequence[float],
    score_thresh: float,
    seen: tuple[int, int],
) -> Found:
    """bbox (R, 4) float32 in pixels of the network's input, label (R,) int32, score (R,) float32.

    bbox: (P, 4) float32, proposals of a photo
    loc: (P, 4 * L); conf: (P, L + 1), before the softmax, background first
    loc_std: what offsets are multiplied by
    score_thresh: what scores this or less is dropped
    seen: (H, W) of the resized photo, at whose edges boxes are cut; what is then empty is dropped
    """
    e = np.exp(conf - conf.max(axis=1, keepdims=True, initial=-np.inf))
    score = (e / e.sum(axis=1, keepdims=True))[:, 1:]
    row, label = np.nonzero(score > score_thresh)
    code = loc.reshape(len(loc), conf.shape[1] - 1, 4)[row, label]
    found = clip_bbox(decode_bbox(code, bbox[row], std=loc_std), seen)
    kept = ((found[:, 2:] - found[:, :2]) >= _MIN_SIDE).all(axis=1)
    row, label = row[kept], label[kept]
    return found[kept], label.astype(np.int32), score[row, label].astype(np.float32, copy=False)
