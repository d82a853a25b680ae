"""From a detector's numbers on a GPU to the boxes of its photos, in arrays of fixed sizes."""

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.backends.cuda.kernel_module import KernelModule, blocks
from cvzoo.backends.cuda.nms import Kept
from cvzoo.backends.cuda.selection import Candidates, Selected, Sorted
from cvzoo.backends.cupy.library import cupy

_MODULE = KernelModule("decode")
_THREADS = (256, 1, 1)
_HEADER, _FIELDS = 4, 6
# more than any part has
UNBOUNDED = 2**31 - 1


class Coder(enum.IntEnum):
    """What a code of four numbers is against: an anchor (dy dx dh dw); a place (up left down right, in strides; an
    anchor is then y, x, stride, 0); nothing, since it is a box."""

    ANCHORS = 0
    PLACES = 1
    BOXES = 2


class Scoring(enum.IntEnum):
    """What makes a score of a selected number: it is one; its sigmoid; its sigmoid, computed in float64."""

    PLAIN = 0
    SIGMOID = 1
    SIGMOID_IN_64 = 2


def frame(
    size: Sequence[int],
    *,
    cut: Sequence[float] | None = None,
    offset: Sequence[float] = (0.0, 0.0),
    divisor: Sequence[float] = (1.0, 1.0),
    factor: Sequence[float] = (1.0, 1.0),
    min_side: float = -np.inf,
) -> np.ndarray:
    """(11,) float32, how the boxes of a photo of `size` (H, W) become its own: (box cut - offset) / divisor * factor.

    cut: (H, W) at whose edges they are cut first, None: nowhere; offset, divisor, factor: (y, x)
    min_side: a box of which a side, once cut, is shorter does not count
    """
    cut = (-1.0, -1.0) if cut is None else cut
    return np.array([*cut, *offset, *divisor, *factor, *size, min_side], np.float32)


def decode_selected(
    selected: Selected,
    loc: Any,
    anchor: Any,
    *,
    frames: Any,
    n_class: int,
    coder: Coder = Coder.ANCHORS,
    std: Sequence[float] = (1.0, 1.0, 1.0, 1.0),
    scoring: Scoring = Scoring.PLAIN,
    above: float = -np.inf,
    min_side: float = -np.inf,
    by_part: bool = False,
    codes_of_class: bool = False,
) -> Candidates:
    """The boxes of what was selected among pairs of A rows and n_class classes.

    loc: (B, A, 4) float32, or (B, A, n_class, 4) with codes_of_class
    anchor: (A, 4) float32, or (B, A, 4); any array for Coder.BOXES
    frames: (B, 11) float32 of `frame`
    std: what dy dx dh dw are multiplied by
    above: what does not score more, does not count
    min_side: nor does a box of which a side, once cut, is shorter, nor one that is not finite
    by_part: a box's class is its part's number
    """
    xp = cupy()
    keys, taken, _, parts, step = selected
    b, n_part, limit = keys.shape
    n = n_part * limit
    found = Candidates(
        xp.empty((b, n, 4), np.float32),
        xp.empty((b, n), np.int32),
        xp.empty((b, n), np.float32),
        xp.empty((b, n), np.int32),
    )
    args = (
        *(keys, taken, parts, np.int64(step), np.int32(n_part), np.int32(limit), np.int32(n_class), np.int32(by_part)),
        *(loc, np.int64(loc.shape[1]), np.int32(codes_of_class), anchor, np.int32(anchor.ndim == 3), np.int32(coder)),
        *map(np.float32, std),
        *(np.int32(scoring), np.float32(above), np.float32(min_side), frames, *found, np.int64(b * n)),
    )
    _MODULE.launch("decode_candidates", blocks(b * n), _THREADS, args)
    return found


def softmax_scores(conf: Any, counts: Any = None) -> Any:
    """(B, A, L) float32 of conf (B, A, 1 + L) float32, before the softmax, background first.

    counts: (B,) int32 or None, how many of a photo's rows count; the others score 0
    """
    b, n_row, n = conf.shape
    score = cupy().empty((b, n_row, n - 1), np.float32)
    args = (conf, counts, np.int64(n_row), np.int32(n - 1), score, np.int64(b * n_row))
    _MODULE.launch("score_softmax", blocks(b * n_row, 128), (128, 1, 1), args)
    return score


def centered_scores(conf: Any, center: Any) -> Any:
    """(B, A, L) float32: the geometric mean of the sigmoids of conf (B, A, L) and center (B, A, 1)."""
    score = cupy().empty(conf.shape, np.float32)
    args = (conf, center, np.int32(conf.shape[2]), score, np.int64(score.size))
    _MODULE.launch("score_centered", blocks(score.size), _THREADS, args)
    return score


def decode_yolo(
    raw: Any,
    anchors: Any,
    *,
    n_class: int,
    cell: Sequence[float],
    scale_xy: float,
    softmax: bool,
    plain: bool,
    in_cells: bool,
    above: float,
    first: int,
    bbox: Any,
    score: Any,
) -> None:
    """Write one head's boxes and scores into bbox (B, rows, 4) and score (B, rows, L), from row `first` on.

    raw: (B, H, W, A * (5 + L)) float32 without gaps
    anchors: (A, 2) float32, height and width, in pixels, or in cells with in_cells; cell: (height, width), pixels
    The other arguments as in `links.model.yolo.decode`; what does not score above gets -infinity.
    """
    b, h, w, _ = raw.shape
    n_anchor = anchors.shape[0]
    n = b * h * w * n_anchor
    sizes = map(np.int32, (n_anchor, n_class, h, w))
    args = (
        *(raw, anchors, *sizes, *map(np.float32, cell)),
        *map(np.float32, (scale_xy, (scale_xy - 1) / 2)),
        *map(np.int32, (softmax, plain, in_cells)),
        *(np.float32(above), np.int64(bbox.shape[1]), np.int64(first), bbox, score, np.int64(n)),
    )
    _MODULE.launch("decode_yolo", blocks(n, 128), (128, 1, 1), args)


def finish_boxes(
    boxes: Sorted,
    kept: Kept,
    *,
    frames: Any,
    cut: bool,
    selected: Selected,
    most: int = UNBOUNDED,
    wanted: int | None = None,
) -> Any:
    """(B, 4 + 6 * limit) float32, the boxes of each photo as `unpacked` reads them: all that a host need know.

    What lies wholly beside its photo is dropped.
    cut: boxes are cut at the photo's edges
    selected: where the candidates came from; a part that had more than `most` was not seen whole
    wanted: how many boxes are enough, None: no number is
    """
    b, limit = kept.rows.shape
    result = cupy().empty((b, _HEADER + _FIELDS * limit), np.float32)
    args = (
        *(boxes.bbox, boxes.label, boxes.score, np.int32(boxes.score.shape[1]), kept.rows, kept.counts),
        *(np.int32(limit), frames, np.int32(cut), selected.states, np.int32(selected.keys.shape[1]), np.int32(most)),
        *(boxes.counts, np.int32(kept.most), np.int32(UNBOUNDED if wanted is None else wanted), result),
    )
    _MODULE.launch("finish_boxes", (b, 1, 1), _THREADS, args)
    return result


def unpacked(result: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray] | None]:
    """Of each photo bbox (R, 4) float32, label (R,) int32, score (R,) float32; None where not all was looked at.

    result: what `finish_boxes` gave, on the host
    """
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray] | None] = []
    for row in result:
        count, more = row[:2].view(np.int32).tolist()
        boxes = row[_HEADER : _HEADER + _FIELDS * count].reshape(count, _FIELDS)
        label = np.ascontiguousarray(boxes[:, 5]).view(np.int32)
        found.append(None if more else (boxes[:, :4].copy(), label, boxes[:, 4].copy()))
    return found


def packed_boxes(result: Any) -> tuple[Any, Any]:
    """bbox (B, limit, 4) float32 and label (B, limit) int32, on the device, of what `finish_boxes` gave."""
    xp = cupy()
    boxes = result[:, _HEADER:].reshape(result.shape[0], -1, _FIELDS)
    return xp.ascontiguousarray(boxes[..., :4]), xp.ascontiguousarray(boxes[..., 5]).view(np.int32)


def gather_boxes(boxes: Sorted, kept: Kept) -> Any:
    """(B, limit, 4) float32, the boxes that stayed, zeros after the last."""
    b, limit = kept.rows.shape
    to = cupy().empty((b, limit, 4), np.float32)
    args = (
        boxes.bbox,
        np.int32(boxes.score.shape[1]),
        kept.rows,
        kept.counts,
        np.int32(limit),
        to,
        np.int64(b * limit),
    )
    _MODULE.launch("gather_boxes", blocks(b * limit), _THREADS, args)
    return to
