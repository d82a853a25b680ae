"""Boxes from what RetinaNet's heads say, before suppression."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.backends.cuda.boxes import Scoring, decode_selected, frame
from cvzoo.backends.cuda.selection import Candidates, Selected, select_best
from cvzoo.geometry.best_pairs import best_pairs
from cvzoo.geometry.clip_bbox import clip_bbox
from cvzoo.geometry.coding import decode_bbox
from cvzoo.links.model.finished_boxes import as_floats, level_parts


def decode_levels(
    loc: np.ndarray,
    conf: np.ndarray,
    anchor: np.ndarray,
    counts: Sequence[int],
    *,
    score_thresh: float,
    n_candidate: int,
    seen: tuple[int, int],
    size: tuple[int, int],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """bbox (R, 4) in the photo's pixels, label (R,), score (R,): the best pairs of anchor and class of each level.

    loc: (A, 4) float32, dy dx dh dw
    conf: (A, L) float32, before the sigmoid
    anchor: (A, 4) float32, pixels of the network's input
    counts: how many of the A belong to each level
    score_thresh: what scores this or less is dropped
    n_candidate: so many pairs a level at most
    seen: (H, W) of the resized photo, at whose edges boxes are cut
    size: (H, W) of the photo
    """
    n_class = conf.shape[1]
    keep, start = [], 0
    for count in counts:
        index = best_pairs(conf[start : start + count], n_candidate, above=_logit(score_thresh))
        keep.append(index + start * n_class)
        start += count
    pair = np.concatenate(keep)
    row, label = np.divmod(pair, n_class)
    logit = np.ravel(conf)[pair]
    score = (1 / (1 + np.exp(-logit.astype(np.float64)))).astype(np.float32)
    above = score > score_thresh  # the logit's threshold is rounded
    row, label, score = row[above], label[above], score[above]
    bbox = clip_bbox(decode_bbox(loc[row], anchor[row]), seen)
    # what lies in the padding is cut to nothing; it stays, and counts against the limit as in torchvision
    kept = np.isfinite(bbox).all(axis=1)
    ratio = np.float32(size) / np.float32(seen)
    return bbox[kept] * np.tile(ratio, 2), label[kept].astype(np.int32), score[kept]


def decode_levels_on_device(
    loc: Any,
    conf: Any,
    anchor: Any,
    counts: Sequence[int],
    *,
    score_thresh: float,
    n_candidate: int,
    frames: Any,
) -> tuple[Selected, Candidates]:
    """As `decode_levels`, of all photos at once: loc (B, A, 4) and conf (B, A, L), on a GPU as is all else.

    frames: (B, 11) float32, see `backends.cuda.boxes.frame`
    """
    b, _, n_class = conf.shape
    parts = level_parts(counts, n_class)
    rows = as_floats(conf).reshape(b, -1)
    selected = select_best(rows, parts, limit=n_candidate, above=_logit(score_thresh))
    candidates = decode_selected(
        selected,
        as_floats(loc),
        anchor,
        frames=frames,
        n_class=n_class,
        scoring=Scoring.SIGMOID_IN_64,
        above=score_thresh,
        min_side=-math.inf,
    )
    return selected, candidates


def _logit(score: float) -> float:
    """What the sigmoid makes a little less than `score` of."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return math.log(score / (1 - score)) - 1e-4


def fitted_frame(size: tuple[int, int], seen: tuple[int, int]) -> np.ndarray:
    """(11,) float32: how boxes in pixels of the network's input, cut at `seen`, become the photo's; see `frame`."""
    return frame(size, cut=seen, factor=np.float32(size) / np.float32(seen))
