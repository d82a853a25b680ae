"""Proposals: boxes of the first stage that go on to the second."""

from collections.abc import Sequence

import numpy as np

from cvzoo.geometry.clip_bbox import clip_bbox
from cvzoo.geometry.coding import decode_bbox
from cvzoo.geometry.nms import classwise_nms

_MIN_SIDE = 1e-3


def propose(
    locs: Sequence[np.ndarray],
    confs: Sequence[np.ndarray],
    anchors: Sequence[np.ndarray],
    *,
    seen: tuple[int, int],
    n_proposal: int,
    nms_thresh: float = 0.7,
    score_thresh: float = 0.0,
) -> np.ndarray:
    """(P, 4) float32, y_min x_min y_max x_max, pixels of the network's input: the best boxes of a photo, best first.

    locs, confs, anchors: of each level (A, 4) float32 dy dx dh dw, (A,) before the sigmoid, (A, 4)
    seen: (H, W) of the resized photo, at whose edges boxes are cut
    n_proposal: at most so many of each level before the suppression, which is within levels, and in all after it
    score_thresh: what the sigmoid makes less than this is dropped
    """
    bboxes, scores, levels = [], [], []
    for level, (loc, conf, anchor) in enumerate(zip(locs, confs, anchors)):
        index = _best(conf, n_proposal)
        bboxes.append(clip_bbox(decode_bbox(loc[index], anchor[index]), seen))
        scores.append(1 / (1 + np.exp(-conf[index])))
        levels.append(np.full(len(index), level))
    bbox, score, level = np.concatenate(bboxes), np.concatenate(scores), np.concatenate(levels)
    kept = ((bbox[:, 2:] - bbox[:, :2]) >= _MIN_SIDE).all(axis=1) & (score >= score_thresh)
    bbox, score, level = bbox[kept], score[kept], level[kept]
    if not len(bbox):
        return bbox
    return bbox[classwise_nms(bbox, level, score, iou_thresh=nms_thresh, limit=n_proposal)]


def _best(conf: np.ndarray, n: int) -> np.ndarray:
    """Indices of the n greatest, greatest first, the lower of equals first."""
    if len(conf) <= n:
        return np.argsort(-conf, kind="stable")
    index = np.sort(np.argpartition(-conf, n - 1)[:n])
    return index[np.argsort(-conf[index], kind="stable")]
