"""Decoding of a detector's outputs to boxes on a GPU, in arrays of fixed sizes."""

from collections.abc import Sequence

import numpy as np

from cvzoo.backends.cuda.selection import Candidates, Kept, Selected, Sorted
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.detection import FIELDS, HEADER, CellHead, Coder, Scoring
from cvzoo.backends.gpu_kernels import KernelArgument, KernelModule, blocks
from cvzoo.typing.aliases import Array

_MODULE = KernelModule("decode")
_THREADS = (256, 1, 1)
# more than any part can have
UNBOUNDED = 2**31 - 1


def decode_selected(
    selected: Selected,
    loc: Array,
    anchor: Array,
    *,
    frames: Array,
    n_class: int,
    coder: Coder = Coder.ANCHORS,
    std: Sequence[float] = (1.0, 1.0, 1.0, 1.0),
    scoring: Scoring = Scoring.NONE,
    above: float = -np.inf,
    min_side: float = -np.inf,
    by_part: bool = False,
    codes_of_class: bool = False,
) -> Candidates:
    """The boxes of the selected (row, class) pairs, of A rows and n_class classes.

    loc: (B, A, 4) float32, or (B, A, n_class, 4) with codes_of_class
    anchor: (A, 4) float32, or (B, A, 4); any array for Coder.BOXES
    frames: (B, 11) float32 of `frame`
    std: factors of dy dx dh dw
    above: boxes that do not score more are dropped
    min_side: so are boxes with a shorter side after clipping, and boxes that are not finite
    by_part: a box's class is the index of its part
    """
    xp = cupy()
    keys, taken, _, parts, step = selected
    b, n_part, limit = keys.shape
    n = n_part * limit
    candidates = Candidates(
        xp.empty((b, n, 4), np.float32),
        xp.empty((b, n), np.int32),
        xp.empty((b, n), np.float32),
        xp.empty((b, n), np.int32),
    )
    args = (
        *(keys, taken, parts, np.int64(step), np.int32(n_part), np.int32(limit), np.int32(n_class), np.int32(by_part)),
        *(loc, np.int64(loc.shape[1]), np.int32(codes_of_class), anchor, np.int32(anchor.ndim == 3), np.int32(coder)),
        *map(np.float32, std),
        *(np.int32(scoring), np.float32(above), np.float32(min_side), frames, *candidates, np.int64(b * n)),
    )
    _MODULE.launch("decode_candidates", blocks(b * n), _THREADS, args)
    return candidates


def softmax_scores(conf: Array, counts: Array | None = None) -> Array:
    """(B, A, L) float32 of conf (B, A, 1 + L) float32, logits, background first.

    counts: (B,) int32 or None, number of valid rows of each image; the others score 0
    """
    b, n_row, n = conf.shape
    score = cupy().empty((b, n_row, n - 1), np.float32)
    args = (conf, counts, np.int64(n_row), np.int32(n - 1), score, np.int64(b * n_row))
    _MODULE.launch("score_softmax", blocks(b * n_row, 128), (128, 1, 1), args)
    return score


def centered_scores(conf: Array, center: Array) -> Array:
    """(B, A, L) float32: the geometric mean of the sigmoids of conf (B, A, L) and center (B, A, 1)."""
    score = cupy().empty(conf.shape, np.float32)
    args = (conf, center, np.int32(conf.shape[2]), score, np.int64(score.size))
    _MODULE.launch("score_centered", blocks(score.size), _THREADS, args)
    return score


def decode_yolo(
    raw: Array,
    anchors: Array,
    head: CellHead,
    *,
    cell: Sequence[float],
    above: float,
    first: int,
    bbox: Array,
    score: Array,
) -> None:
    """Write one head's boxes and scores into bbox (B, rows, 4) and score (B, rows, L), from row `first` on.

    raw: (B, H, W, A * (5 + L)) float32 contiguous
    anchors: (A, 2) float32, the head's; cell: (height, width), pixels
    Scores that are not above the threshold become -infinity.
    """
    b, h, w, _ = raw.shape
    n_anchor = anchors.shape[0]
    n = b * h * w * n_anchor
    sizes = map(np.int32, (n_anchor, head.n_class, h, w))
    args: tuple[KernelArgument, ...] = (
        raw,
        anchors,
        *sizes,
        *map(np.float32, cell),
        *map(np.float32, (head.scale_xy, (head.scale_xy - 1) / 2)),
        *map(np.int32, (head.softmax, head.new_coords, head.in_cells)),
        *(np.float32(above), np.int64(bbox.shape[1]), np.int64(first), bbox, score, np.int64(n)),
    )
    _MODULE.launch("decode_yolo", blocks(n, 128), (128, 1, 1), args)


def finish_boxes(
    boxes: Sorted,
    kept: Kept,
    *,
    frames: Array,
    cut: bool,
    selected: Selected,
    most: int = UNBOUNDED,
    wanted: int | None = None,
) -> Array:
    """(B, 4 + 6 * limit) float32, the boxes of each image for `unpacked_boxes`, which the host reads in one copy.

    Boxes entirely outside of their image are dropped.
    cut: boxes are clipped to the image
    selected: the selection of the candidates; candidates of a part after the first `most` were not considered
    wanted: number of boxes that suffice; None: all are needed
    """
    b, limit = kept.rows.shape
    result = cupy().empty((b, HEADER + FIELDS * limit), np.float32)
    args = (
        *(boxes.bbox, boxes.label, boxes.score, np.int32(boxes.score.shape[1]), kept.rows, kept.counts),
        *(np.int32(limit), frames, np.int32(cut), selected.states, np.int32(selected.keys.shape[1]), np.int32(most)),
        *(boxes.counts, np.int32(kept.most), np.int32(UNBOUNDED if wanted is None else wanted), result),
    )
    _MODULE.launch("finish_boxes", (b, 1, 1), _THREADS, args)
    return result


def gather_boxes(boxes: Sorted, kept: Kept) -> Array:
    """(B, limit, 4) float32, the selected boxes, zeros after the last."""
    b, limit = kept.rows.shape
    bbox = cupy().empty((b, limit, 4), np.float32)
    args = (
        boxes.bbox,
        np.int32(boxes.score.shape[1]),
        kept.rows,
        kept.counts,
        np.int32(limit),
        bbox,
        np.int64(b * limit),
    )
    _MODULE.launch("gather_boxes", blocks(b * limit), _THREADS, args)
    return bbox
