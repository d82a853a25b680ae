"""Postprocessing of detections in NumPy, image by image; only boxes with a score above the threshold are decoded."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.backends.detection import FIELDS, HEADER, CellHead, Coder, Scoring, logit_below
from cvzoo.backends.numpy.boxes import cell_boxes, decoded, placed
from cvzoo.backends.numpy.selection import best_logits, best_of_parts, part_numbers, part_of, scores_above, sigmoids
from cvzoo.backends.numpy.suppression import best_first, kept_by_class, kept_rows

__all__ = [
    "decode_boxes",
    "decode_cells",
    "finish_boxes",
    "candidate_boxes",
    "kept_boxes",
    "nms",
    "select_best",
]


class Selected(NamedTuple):
    """Pairs of row and class that were selected, of each image in ascending order.

    pairs: (K,) int64 each, row * n_class + class; scores: (K,) float32 each
    """

    pairs: list[np.ndarray]
    scores: list[np.ndarray]
    parts: Sequence[tuple[int, int]]
    n_class: int


class Candidates(NamedTuple):
    """Of each image bbox (R, 4) float32, label (R,) int32, score (R,) float32; of equal scores the first is better."""

    bbox: list[np.ndarray]
    label: list[np.ndarray]
    score: list[np.ndarray]


def select_best(
    score: np.ndarray,
    parts: Sequence[tuple[int, int]],
    *,
    n_class: int,
    limit: int | None,
    above: float,
    step: int = 1,
    scoring: Scoring = Scoring.NONE,
    center: np.ndarray | None = None,
    counts: np.ndarray | None = None,
) -> Selected:
    """See `AbstractBackend.select_best`."""
    pairs, scores = [], []
    for i, rows in enumerate(score):
        rows = rows if counts is None else rows[: counts[i]]
        if scoring in (Scoring.SIGMOID, Scoring.SIGMOID_FLOAT64) and limit is not None and step == 1:
            # the sigmoid is monotonic: it is computed of the best logits only
            pair = best_logits(rows, parts, n_class, limit, logit_below(above))
            value = sigmoids(np.ravel(rows)[pair], scoring)
            passing = value > above
            pair, value = pair[passing], value[passing]
        else:
            pair, value = scores_above(rows, scoring, above, None if center is None else center[i])
            if limit is not None:
                best = best_of_parts(value, part_of(pair, parts, step), len(parts), limit)
                pair, value = pair[best], value[best]
        pairs.append(pair)
        scores.append(value)
    return Selected(pairs, scores, parts, n_class)


def decode_boxes(
    selected: Selected,
    code: np.ndarray,
    anchors: np.ndarray,
    *,
    frames: np.ndarray,
    coder: Coder = Coder.ANCHORS,
    std: Sequence[float] = (1.0, 1.0, 1.0, 1.0),
    min_side: float = -math.inf,
    by_part: bool = False,
) -> Candidates:
    """See `AbstractBackend.decode_boxes`."""
    images = []
    for i, (pair, score) in enumerate(zip(selected.pairs, selected.scores)):
        row, label = np.divmod(pair, selected.n_class)
        own = code[i, row, label] if code.ndim == 4 else code[i, row]
        against = (anchors[i] if anchors.ndim == 3 else anchors)[row]
        if by_part:
            label = part_numbers(pair, selected.parts)
        with np.errstate(all="ignore"):
            bbox, valid = placed(decoded(own, against, coder, std), frames[i], min_side)
        images.append((bbox[valid], label[valid].astype(np.int32), score[valid]))
    return Candidates(*(list(each) for each in zip(*images)))


def decode_cells(
    raws: Sequence[np.ndarray],
    heads: Sequence[CellHead],
    *,
    input_size: tuple[int, int],
    frames: np.ndarray,
    above: float,
) -> Candidates:
    """See `AbstractBackend.decode_cells`."""
    images = []
    for i, frame in enumerate(frames):
        parts = [cell_boxes(raw[i], head, input_size, frame, above) for raw, head in zip(raws, heads)]
        images.append([np.concatenate(each) for each in zip(*parts)])
    return Candidates(*(list(each) for each in zip(*images)))


def nms(
    candidates: Candidates, *, iou_thresh: float, limit: int | None, classwise: bool = True, n_best: int | None = None
) -> Candidates:
    """See `AbstractBackend.nms`."""
    images: list[tuple[np.ndarray, ...]] = []
    for bbox, label, score in zip(*candidates):
        order = best_first(score)[:n_best]
        if classwise:
            order = kept_by_class(bbox, label, order, np.float32(iou_thresh), limit)
        else:
            order = order[kept_rows(bbox[order], np.float32(iou_thresh), limit)]
        images.append((bbox[order], label[order], score[order]))
    return Candidates(*(list(each) for each in zip(*images)))


def candidate_boxes(candidates: Candidates) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """See `AbstractBackend.candidate_boxes`."""
    return list(zip(*candidates))


def kept_boxes(kept: Candidates) -> tuple[np.ndarray, np.ndarray]:
    """See `AbstractBackend.kept_boxes`."""
    counts = np.array([len(bbox) for bbox in kept.bbox], np.int32)
    padded = np.zeros((len(counts), counts.max(initial=0), 4), np.float32)
    for to, bbox in zip(padded, kept.bbox):
        to[: len(bbox)] = bbox
    return padded, counts


def finish_boxes(kept: Candidates, *, frames: np.ndarray, cut: bool) -> np.ndarray:
    """See `AbstractBackend.finish_boxes`."""
    most = max(map(len, kept.bbox), default=0)
    result = np.zeros((len(frames), HEADER + FIELDS * most), np.float32)
    for to, frame, bbox, label, score in zip(result, frames, *kept):
        inside = np.clip(bbox, 0, np.tile(frame[8:10], 2))
        visible = (inside[:, 2:] > inside[:, :2]).all(axis=1)  # not wholly in a letterbox's margin, nor empty
        count = np.count_nonzero(visible)
        boxes = to[HEADER : HEADER + FIELDS * count].reshape(count, FIELDS)
        boxes[:, :4] = (inside if cut else bbox)[visible]
        boxes[:, 4] = score[visible]
        boxes[:, 5] = label[visible].astype(np.int32).view(np.float32)
        to[:1].view(np.int32)[0] = count
    return result
