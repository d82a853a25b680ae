"""Detection kernels of `AbstractBackend` on a GPU, with arrays of fixed sizes, so that nothing synchronizes."""

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.backends.cuda import boxes as kernels
from cvzoo.backends.cuda.selection import MOST, Candidates, Kept, Selected, Sorted, nms_batch, sort_candidates
from cvzoo.backends.cuda.selection import select_best as select_scores
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.detection import CellHead, Coder, Scoring, logit_below
from cvzoo.backends.transfer import constants, download
from cvzoo.typing.aliases import Array

__all__ = [
    "decode_boxes",
    "decode_cells",
    "finish_boxes",
    "candidate_boxes",
    "kept_boxes",
    "nms",
    "select_best",
]

# candidates that are considered where a detector sets no limit
MOST_CANDIDATES = 8192


class DeviceSelected(NamedTuple):
    """Selected scores, their scoring, and the number of candidates per part."""

    selected: Selected
    n_class: int
    scoring: Scoring
    above: float
    most: int


class DeviceCandidates(NamedTuple):
    """Candidate boxes of images, and the selection that they come from."""

    boxes: Candidates
    selected: Selected
    most: int


class DeviceKept(NamedTuple):
    """Sorted boxes of images, the indices of those selected by `nms`, and the limit."""

    boxes: Sorted
    kept: Kept
    candidates: DeviceCandidates
    wanted: int | None


def select_best(
    score: Array,
    parts: Sequence[tuple[int, int]],
    *,
    n_class: int,
    limit: int | None,
    above: float,
    step: int = 1,
    scoring: Scoring = Scoring.NONE,
    center: Array | None = None,
    counts: Array | None = None,
) -> DeviceSelected:
    """See `AbstractBackend.select_best`."""
    score, bound = _as_floats(score), above
    if scoring is Scoring.SOFTMAX:
        score, scoring = kernels.softmax_scores(score, counts), Scoring.NONE
    elif scoring is Scoring.CENTERNESS:
        assert center is not None
        score, scoring = kernels.centered_scores(score, _as_floats(center)), Scoring.NONE
    elif scoring is not Scoring.NONE:
        bound = logit_below(above)
    most = MOST_CANDIDATES if limit is None else kernels.UNBOUNDED
    limit = MOST_CANDIDATES if limit is None else limit
    selected = select_scores(score.reshape(len(score), -1), parts, limit=limit, above=bound, step=step)
    return DeviceSelected(selected, n_class, scoring, above, most)


def decode_boxes(
    selected: DeviceSelected,
    code: Array,
    anchors: Array,
    *,
    frames: Array,
    coder: Coder = Coder.ANCHORS,
    std: Sequence[float] = (1.0, 1.0, 1.0, 1.0),
    min_side: float = -math.inf,
    by_part: bool = False,
) -> DeviceCandidates:
    """See `AbstractBackend.decode_boxes`."""
    boxes = kernels.decode_selected(
        selected.selected,
        _as_floats(code),
        anchors,
        frames=frames,
        n_class=selected.n_class,
        coder=coder,
        std=std,
        scoring=selected.scoring,
        above=selected.above,
        min_side=min_side,
        by_part=by_part,
        codes_of_class=code.ndim == 4,
    )
    return DeviceCandidates(boxes, selected.selected, selected.most)


def decode_cells(
    raws: Sequence[Array], heads: Sequence[CellHead], *, input_size: tuple[int, int], frames: Array, above: float
) -> DeviceCandidates:
    """See `AbstractBackend.decode_cells`."""
    xp = cupy()
    raws = [_as_floats(raw.transpose(0, 2, 3, 1)) for raw in raws]
    b, n_class = len(raws[0]), heads[0].n_class
    counts = [raw.shape[1] * raw.shape[2] * len(head.anchors) for raw, head in zip(raws, heads)]
    bbox = xp.empty((b, sum(counts), 4), np.float32)
    score = xp.empty((b, sum(counts), n_class), np.float32)
    first = 0
    for head, raw, count in zip(heads, raws, counts):
        cell = input_size[0] / raw.shape[1], input_size[1] / raw.shape[2]
        anchors = constants.get(head, functools.partial(np.array, head.anchors, np.float32))
        kernels.decode_yolo(raw, anchors, head, cell=cell, above=above, first=first, bbox=bbox, score=score)
        first += count
    selected = select_best(score, [(0, sum(counts) * n_class)], n_class=n_class, limit=None, above=above)
    return decode_boxes(selected, bbox, bbox, frames=frames, coder=Coder.BOXES)


def candidate_boxes(candidates: DeviceCandidates) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """See `AbstractBackend.candidate_boxes`."""
    bboxes, labels, scores = download(candidates.boxes[:3])
    counts = scores > -np.inf
    return [(bbox[kept], label[kept], score[kept]) for bbox, label, score, kept in zip(bboxes, labels, scores, counts)]


def nms(
    candidates: DeviceCandidates,
    *,
    iou_thresh: float,
    limit: int | None,
    classwise: bool = True,
    n_best: int | None = None,
) -> DeviceKept:
    """See `AbstractBackend.nms`."""
    boxes = sort_candidates(candidates.boxes)
    most = MOST if n_best is None else n_best
    kept = nms_batch(boxes, iou_thresh=iou_thresh, limit=limit, classwise=classwise, most=most)
    return DeviceKept(boxes, kept, candidates, limit)


def kept_boxes(kept: DeviceKept) -> tuple[Array, Array]:
    """See `AbstractBackend.kept_boxes`."""
    return kernels.gather_boxes(kept.boxes, kept.kept), kept.kept.counts


def finish_boxes(kept: DeviceKept, *, frames: Array, cut: bool) -> Array:
    """See `AbstractBackend.finish_boxes`."""
    return kernels.finish_boxes(
        kept.boxes,
        kept.kept,
        frames=frames,
        cut=cut,
        selected=kept.candidates.selected,
        most=kept.candidates.most,
        wanted=kept.wanted,
    )


def _as_floats(array: Array) -> Array:
    """`array` as contiguous float32."""
    return cupy().ascontiguousarray(array.astype(np.float32, copy=False))
