"""Boxes from what FCOS's heads say, before suppression."""

import math
from typing import Any

import numpy as np

from cvzoo.backends.cuda.boxes import Coder, centered_scores, decode_selected
from cvzoo.backends.cuda.selection import Candidates, Selected, select_best
from cvzoo.geometry.clip_bbox import clip_bbox
from cvzoo.links.model.fcos.places import Places, boxes_at
from cvzoo.links.model.finished_boxes import as_floats, level_parts

Found = tuple[np.ndarray, np.ndarray, np.ndarray]


def decode_places(
    loc: np.ndarray,
    conf: np.ndarray,
    center: np.ndarray,
    places: Places,
    *,
    score_thresh: float,
    n_candidate: int,
    seen: tuple[int, int],
    size: tuple[int, int],
) -> Found:
    """bbox (R, 4) in the photo's pixels, label (R,), score (R,): the best pairs of place and class of each level.

    loc: (A, 4) float32, distances up, left, down and right, in strides; conf: (A, L) and center: (A, 1), before the
        sigmoid; a score is the geometric mean of the two sigmoids
    score_thresh: what scores this or less is dropped
    n_candidate: so many pairs a level at most
    seen: (H, W) of the resized photo, at whose edges boxes are cut
    size: (H, W) of the photo
    """
    n_class = conf.shape[1]
    center = center[:, 0]
    # a mean above the threshold needs both factors above its square
    least = _logit(score_thresh**2)
    rows, labels, scores = [], [], []
    start = 0
    for count in places.counts:
        hopeful = start + np.flatnonzero(center[start : start + count] > least)
        start += count
        logit = conf[hopeful]
        pair = np.flatnonzero(logit > least)
        row, label = np.divmod(pair, n_class)
        score = np.sqrt(_sigmoid(logit.reshape(-1)[pair]) * _sigmoid(center[hopeful[row]]))
        above = np.flatnonzero(score > score_thresh)
        if len(above) > n_candidate:
            above = above[np.argsort(-score[above], kind="stable")[:n_candidate]]
        rows.append(hopeful[row[above]])
        labels.append(label[above])
        scores.append(score[above])
    row, label, score = map(np.concatenate, (rows, labels, scores))
    bbox = clip_bbox(boxes_at(loc[row], places.center[row], places.stride[row]), seen)
    # what lies in the padding is cut to nothing; it stays, and counts against the limit as in torchvision
    kept = np.isfinite(bbox).all(axis=1)
    ratio = np.float32(size) / np.float32(seen)
    return bbox[kept] * np.tile(ratio, 2), label[kept].astype(np.int32), score[kept].astype(np.float32)


def decode_places_on_device(
    loc: Any,
    conf: Any,
    center: Any,
    place: Any,
    counts: tuple[int, ...],
    *,
    score_thresh: float,
    n_candidate: int,
    frames: Any,
) -> tuple[Selected, Candidates]:
    """As `decode_places`, of all photos at once: loc (B, A, 4), conf (B, A, L), center (B, A, 1), on a GPU as is all
    else.

    place: (A, 4) float32, see `places_as_anchors`; counts: places of each level
    frames: (B, 11) float32, see `backends.cuda.boxes.frame`
    """
    b, _, n_class = conf.shape
    score = centered_scores(as_floats(conf), as_floats(center)).reshape(b, -1)
    selected = select_best(score, level_parts(counts, n_class), limit=n_candidate, above=score_thresh)
    candidates = decode_selected(
        selected,
        as_floats(loc),
        place,
        frames=frames,
        n_class=n_class,
        coder=Coder.PLACES,
        above=score_thresh,
        min_side=-math.inf,
    )
    return selected, candidates


def places_as_anchors(places: Places) -> np.ndarray:
    """(A, 4) float32: y, x, stride, 0 of each place."""
    return np.concatenate([places.center, places.stride[:, None], 0 * places.stride[:, None]], axis=1)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # of the exponential, which makes the right 0
        return 1 / (1 + np.exp(-x))


def _logit(score: float) -> float:
    """A little less than what the sigmoid makes `score` of."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return math.log(score / (1 - score)) - 1e-4
