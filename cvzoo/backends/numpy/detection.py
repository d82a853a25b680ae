"""Postprocessing of detections, image by image: selection of scores, decoding of their boxes alone, suppression."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.backends.detection import FIELDS, HEADER, CellHead, Coder, Scoring, logit_below
from cvzoo.backends.in_threads import in_threads
from cvzoo.backends.native.selection import best_of_parts_natively, softmax_above_natively
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


_STRIP = 1 << 19  # scores that a thread scans at a time
_ROWS = 1024  # rows of which a thread computes the softmax at a time


def best_pairs(score: np.ndarray, limit: int, *, above: float = -math.inf) -> np.ndarray:
    """(K,) int64, K <= limit: indices in score.ravel() of its highest scores, best first, of equals the first.

    score: (R, L) real
    above: only what is greater counts; NaN never does

    A row's greatest number bounds all of it: the `limit`-th greatest of the rows' maxima is a bound that at least
    `limit` pairs reach, so only rows that reach it are searched. That makes it linear.
    """
    n_row, n_column = score.shape
    if not score.size:
        return np.zeros(0, np.int64)
    best = score[:, 0]
    if n_column > 1:
        best = np.empty(n_row, score.dtype)
        step = max(_STRIP // n_column, 1)
        strips = [slice(k, k + step) for k in range(0, n_row, step)]
        in_threads(strips, lambda rows: score[rows].max(axis=1, out=best[rows]))
    if np.isnan(best).any():
        # NaN scores are never selected, but max() would return them
        best = np.nan_to_num(np.fmax.reduce(score, axis=1), nan=-np.inf)
    reached = best > above
    bound = -np.inf
    if n_row > limit:
        # `limit` rows have a maximum of at least this, so no smaller value is among the best
        bound = np.partition(best, n_row - limit)[n_row - limit]
        reached &= best >= bound
    row = np.flatnonzero(reached)
    part = score[row]
    place = np.flatnonzero((part > above) & (part >= bound))
    value = part.ravel()[place]
    index = row[place // n_column] * n_column + place % n_column
    return index[np.argsort(-value, kind="stable")[:limit]]


def part_numbers(pair: np.ndarray, parts: Sequence[tuple[int, int]]) -> np.ndarray:
    """(K,): which of the parts each of pair (K,) is in, where parts follow one another."""
    return np.searchsorted([start + count for start, count in parts], pair, side="right")


def part_of(pair: np.ndarray, parts: Sequence[tuple[int, int]], step: int) -> np.ndarray:
    """The same also where the parts' elements are `step` apart, part s beginning at s."""
    return part_numbers(pair, parts) if step == 1 else pair % step


def best_logits(
    rows: np.ndarray, parts: Sequence[tuple[int, int]], n_class: int, limit: int, above: float
) -> np.ndarray:
    rows = rows.reshape(-1, n_class)
    indices = []
    for start, count in parts:
        first = start // n_class
        index = best_pairs(rows[first : first + count // n_class], limit, above=above)
        indices.append(np.sort(index) + start)
    return np.concatenate(indices)


def scores_above(rows: np.ndarray, scoring: Scoring, above: float, center: np.ndarray | None) -> tuple[np.ndarray, ...]:
    """Pairs (K,) int64, ascending, and scores (K,) float32 of what scores above."""
    if scoring is Scoring.SOFTMAX:
        return _softmax_above(rows, above)
    if scoring is Scoring.CENTERNESS:
        assert center is not None
        return _centered_above(rows, center[:, 0], above)
    value = np.ravel(rows) if scoring is Scoring.NONE else sigmoids(np.ravel(rows), scoring)
    pair = np.flatnonzero(value > above)
    return pair, value[pair]


def _softmax_above(conf: np.ndarray, above: float) -> tuple[np.ndarray, np.ndarray]:
    found = softmax_above_natively(conf, above, logit_below(above))
    if found is not None:
        return found
    parts: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def work(start: int) -> None:
        strip = conf[start : start + _ROWS]
        # a class's probability is at most that of a softmax over it and the background: most rows need no exponential
        hopeful = np.flatnonzero(strip[:, 1:].max(axis=1) - strip[:, 0] > logit_below(above))
        logit = strip[hopeful]
        prob = np.exp(logit - logit.max(axis=1, keepdims=True))
        prob /= prob.sum(axis=1, keepdims=True)
        parts[start] = hopeful + start, prob

    in_threads(range(0, max(len(conf), 1), _ROWS), work)
    hopeful, prob = (np.concatenate(each) for each in zip(*(parts[start] for start in sorted(parts))))
    row, label = np.nonzero(prob[:, 1:] > above)
    return hopeful[row] * (conf.shape[1] - 1) + label, prob[row, label + 1]


def _centered_above(conf: np.ndarray, center: np.ndarray, above: float) -> tuple[np.ndarray, np.ndarray]:
    # a mean above the threshold needs both factors above its square
    least = logit_below(above**2)
    hopeful = np.flatnonzero(center > least)
    logit = conf[hopeful]
    pair = np.flatnonzero(logit > least)
    row, label = np.divmod(pair, conf.shape[1])
    score = np.sqrt(_sigmoid(np.ravel(logit)[pair]) * _sigmoid(center[hopeful])[row])
    selected = np.flatnonzero(score > above)
    return hopeful[row[selected]] * conf.shape[1] + label[selected], score[selected]


def best_of_parts(score: np.ndarray, part: np.ndarray, n_part: int, limit: int) -> np.ndarray | slice:
    """Which of score (K,) are among the `limit` best of their part (K,), of equals the first; ascending."""
    counts = np.bincount(part, minlength=n_part)
    if counts.max(initial=0) <= limit:
        return slice(None)
    best = best_of_parts_natively(score, part, n_part, limit) if limit else None
    if best is not None:
        return best
    order = np.argsort(part.astype(np.min_scalar_type(n_part)), kind="stable")
    groups = np.split(order, np.cumsum(counts)[:-1])

    def work(number: int) -> None:
        group = groups[number]
        if len(group) > limit:
            groups[number] = group[best_pairs(score[group][:, None], limit)]

    in_threads(range(len(groups)), work)
    return np.sort(np.concatenate(groups))


def sigmoids(logit: np.ndarray, scoring: Scoring) -> np.ndarray:
    return _sigmoid(logit.astype(np.float64) if scoring is Scoring.SIGMOID_FLOAT64 else logit).astype(np.float32)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # of the exponential, which makes the right 0
        return 1 / (1 + np.exp(-x))


# exp() of a wild network output must not overflow: detectors never predict a side over 62.5 times the anchor's,
# which is a 16-pixel anchor grown to 1000 pixels (the bound of Detectron and torchvision)
SIZE_CLAMP = math.log(1000 / 16)
# e^25 anchors are wider than any image, and the squares of their sides still fit into float32
_LARGEST_LOG = np.float32(25)

Four = Sequence[float]


def decode_offsets(code: np.ndarray, anchor: np.ndarray, *, mean: Four = (0.0,) * 4, std: Four) -> np.ndarray:
    """(R, 4): the boxes that offsets code (R, 4) dy dx dh dw, times std plus mean, make of anchor (R, 4)."""
    code = code * np.asarray(std, code.dtype) + np.asarray(mean, code.dtype)
    size = anchor[:, 2:] - anchor[:, :2]
    center = code[:, :2] * size + (anchor[:, :2] + size / 2)
    half = np.exp(np.minimum(code[:, 2:], code.dtype.type(SIZE_CLAMP))) * size / 2
    return np.concatenate([center - half, center + half], axis=1)


def decoded(code: np.ndarray, anchor: np.ndarray, coder: Coder, std: Four) -> np.ndarray:
    if coder is Coder.BOXES:
        return code
    if coder is Coder.POINTS:
        side = code * anchor[:, 2:3]
        return np.concatenate([anchor[:, :2] - side[:, :2], anchor[:, :2] + side[:, 2:]], axis=1)
    return decode_offsets(code, anchor, std=std)


def placed(bbox: np.ndarray, frame: np.ndarray, min_side: float) -> tuple[np.ndarray, np.ndarray]:
    """The boxes in pixels of their image, and (R,) bool, which of them are finite and large enough."""
    cut, offset, divisor, factor = (np.tile(frame[k : k + 2], 2) for k in (0, 2, 4, 6))
    if cut[0] >= 0:
        bbox = np.clip(bbox, 0, cut)
    valid = np.all(np.isfinite(bbox), axis=1)
    shortest = max(min_side, frame[10])
    if shortest > -math.inf:
        valid &= ((bbox[:, 2:] - bbox[:, :2]) >= shortest).all(axis=1)
    if offset.any():
        bbox = bbox - offset
    if (divisor != 1).any():
        bbox = bbox / divisor
    return (bbox * factor if (factor != 1).any() else bbox), valid


class _Places(NamedTuple):
    """Of rows of a head: cell (R, 2) y x; anchor (R,); cell_size (2,), height and width in pixels."""

    cell: np.ndarray
    anchor: np.ndarray
    cell_size: np.ndarray


def cell_boxes(
    raw: np.ndarray, head: CellHead, input_size: tuple[int, int], frame: np.ndarray, above: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """bbox (R, 4) in pixels of the image, label (R,), score (R,) of raw (A * (5 + L), GH, GW)."""
    # cell by cell, anchor by anchor; no copy where channels lie last in memory
    # darknet's order of channels: x y w h objectness classes
    rows = raw.transpose(1, 2, 0).reshape(-1, 5 + head.n_class)
    with np.errstate(all="ignore"):
        objectness = rows[:, 4] if head.new_coords else _sigmoid(rows[:, 4])
        # no class scores above the objectness, so most cells' class scores are not computed
        index = np.flatnonzero(objectness > above)
        rows = rows[index]
        prob = rows[:, 5:]
        if not head.new_coords:
            prob = _softmax(prob) if head.softmax else _sigmoid(prob)
        prob = prob * objectness[index, None]
        place = _places(index, raw.shape[1:], len(head.anchors), input_size)
        if head.new_coords:
            # YOLOv4's layers apply the sigmoid in the network, and have no exponential
            center, side = rows[:, 1::-1], np.square(rows[:, 3:1:-1] * 2)
        else:
            center, side = _sigmoid(rows[:, 1::-1]), np.exp(np.minimum(rows[:, 3:1:-1], _LARGEST_LOG))
        # darknet's scale_x_y: with it a sigmoid can reach the edges of the cell
        center = center * np.float32(head.scale_xy) - np.float32((head.scale_xy - 1) / 2)
        side = side * np.array(head.anchors, np.float32)[place.anchor]
        side = (side * place.cell_size if head.in_cells else side) / 2
        center = (place.cell + center) * place.cell_size
        bbox, valid = placed(np.concatenate([center - side, center + side], axis=1), frame, -math.inf)
        row, label = np.nonzero((prob > above) & valid[:, None])
    return bbox[row], label.astype(np.int32), prob[row, label]


def _places(index: np.ndarray, grid: tuple[int, int], n_anchor: int, input_size: tuple[int, int]) -> _Places:
    cell, anchor = np.divmod(index, n_anchor)
    cell = np.stack(np.divmod(cell, grid[1]), axis=1).astype(np.float32)
    return _Places(cell, anchor, np.array([input_size[0] / grid[0], input_size[1] / grid[1]], np.float32))


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=1, keepdims=True, initial=-np.inf))
    return e / e.sum(axis=1, keepdims=True)


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
