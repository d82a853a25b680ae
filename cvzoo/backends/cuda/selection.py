"""Top-k selection of scores, sorting and non-maximum suppression on a GPU; sizes do not depend on the scores."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.gpu_kernels import KernelModule
from cvzoo.backends.transfer import constants
from cvzoo.errors.exceptions import ShapeError
from cvzoo.typing.aliases import Array

_MODULE = KernelModule("select")
_BINS, _PASSES, _STATES = 2048, 6, 4
_THREADS = 256
_SHARE = 16  # scores per thread: fewer blocks have fewer histograms to merge
_MOST_BLOCKS = 1024


class Selected(NamedTuple):
    """The highest scores of each part of each image.

    keys: (B, S, limit) uint64, highest first: a sortable encoding of the score, and its index in the part
    taken: (B, S) int32, number of keys
    states: (B, S, 4) uint64; the last is the number of scores above the threshold
    parts: (S, 2) int64, start and count; step: between elements
    """

    keys: Array
    taken: Array
    states: Array
    parts: Array
    step: int

    @property
    def limit(self) -> int:
        """The most keys of a part."""
        return self.keys.shape[2]


def select_best(score: Array, parts: Sequence[tuple[int, int]], *, limit: int, above: float, step: int = 1) -> Selected:
    """The `limit` highest scores of each part in descending order, of equals the first, as `geometry.best_pairs`.

    score: (B, N) float32, contiguous
    parts: (start, count) in each image's N; element i of a part is at start + i * step
    above: only greater scores are selected; NaN never is
    """
    xp = cupy()
    b = score.shape[0]
    if score.dtype != np.float32 or not score.flags.c_contiguous or score.ndim != 2:
        raise ShapeError(
            "score has a wrong shape or dtype", expected="(B, N) contiguous float32", got=(score.shape, score.dtype)
        )
    parts = tuple([(int(start), int(count)) for start, count in parts])
    n_part, longest = len(parts), max([count for _, count in parts])
    limit = max(min(limit, longest), 1)
    table = constants.get(("parts", parts), lambda: np.array(parts, np.int64))
    counts = xp.zeros((b, n_part, _BINS), np.uint32)
    states = xp.empty((b, n_part, _STATES), np.uint64)
    taken = xp.zeros((b, n_part), np.int32)
    keys = xp.empty((b, n_part, limit), np.uint64)
    grid = (max(1, min(-(-longest // (_THREADS * _SHARE)), _MOST_BLOCKS)), n_part, b)
    block = (_THREADS, 1, 1)
    common = (score, table, np.int64(score.shape[1]), np.int64(step), np.float32(above))
    # if no part can exceed the limit, a single pass that counts is enough
    for number in range(_PASSES if longest > limit else 1):
        _MODULE.launch("select_count", grid, block, (*common, np.int32(number), states, counts))
        _MODULE.launch("select_bits", (n_part, b, 1), block, (counts, np.int32(limit), np.int32(number), states))
    _MODULE.launch("select_take", grid, block, (*common, np.int32(limit), states, keys, taken))
    capacity = _power_of_two(limit)
    scratch = xp.empty((b * n_part, capacity), np.uint64)
    _MODULE.launch(
        "sort_keys",
        (b * n_part, 1, 1),
        (_sorting_threads(limit), 1, 1),
        (keys, taken, np.int32(limit), np.int32(capacity), scratch),
    )
    return Selected(keys, taken, states, table, step)


class Candidates(NamedTuple):
    """Boxes of images; those with a score of -infinity are ignored.

    bbox: (B, N, 4) float32; label: (B, N) int32; score: (B, N) float32
    pairs: (B, N) int32, the order of equal scores; None: by index
    """

    bbox: Array
    label: Array
    score: Array
    pairs: Array | None = None


class Sorted(NamedTuple):
    """Boxes of images by descending score.

    bbox: (B, N, 4) float32; label: (B, N) int32; score: (B, N) float32; indices: (B, N) int32, before sorting
    counts: (B,) int32, number of boxes of each image; values after them are 0 or -1
    """

    bbox: Array
    label: Array
    score: Array
    indices: Array
    counts: Array


def sort_candidates(candidates: Candidates) -> Sorted:
    """The boxes with scores above -infinity, by descending score, of equals the one with the lower `pairs` first."""
    xp = cupy()
    bbox, label, score, pairs = candidates
    b, n = score.shape
    capacity = _power_of_two(n)
    scratch = xp.empty((b, capacity), np.uint64)
    boxes = Sorted(
        xp.empty_like(bbox),
        xp.empty_like(label),
        xp.empty_like(score),
        xp.empty((b, n), np.int32),
        xp.empty((b,), np.int32),
    )
    _MODULE.launch(
        "sort_candidates",
        (b, 1, 1),
        (_sorting_threads(n), 1, 1),
        (
            *(bbox, label, score, pairs, np.int32(n), np.int32(capacity), scratch),
            *(boxes.indices, boxes.bbox, boxes.label, boxes.score, boxes.counts),
        ),
    )
    return boxes


def _power_of_two(n: int) -> int:
    return 1 << max(n - 1, 0).bit_length()


def _sorting_threads(n: int) -> int:
    return max(32, min(_power_of_two(n) // 2, 1024))


_NMS = KernelModule("nms")
MOST = 8192  # boxes of an image that are compared with each other: a matrix of 8 MB of bits
# what the kernel has scratch for
_WORDS = 512
_SWEEPING = 256


class Kept(NamedTuple):
    """The boxes selected by non-maximum suppression.

    rows: (B, limit) int32, best first; -1 after the last
    counts: (B,) int32
    most: number of boxes of each image that were considered
    """

    rows: Array
    counts: Array
    most: int


def nms_batch(boxes: Sorted, *, iou_thresh: float, limit: int | None, classwise: bool = True, most: int = MOST) -> Kept:
    """Greedy non-maximum suppression of a batch.

    boxes: of `sort_candidates`
    iou_thresh: a box is suppressed if its IoU with a selected box of higher score is strictly greater
    limit: the most boxes per image; None: all
    classwise: boxes suppress only boxes of their own class
    most: number of highest-scoring boxes that are considered

    IoU is computed in float32 as `geometry.bbox_iou` does. Boxes must be finite.
    """
    xp = cupy()
    b, n = boxes.score.shape
    most = max(min(most, n, 64 * _WORDS), 1)
    limit = most if limit is None else min(limit, most)
    n_word = -(-most // 64)
    mask = xp.empty((b, 64 * n_word, n_word), np.uint64)
    kept = Kept(xp.empty((b, limit), np.int32), xp.empty((b,), np.int32), most)
    label = boxes.label if classwise else None
    _NMS.launch(
        "nms_mask",
        (n_word, n_word, b),
        (64, 1, 1),
        (boxes.bbox, label, boxes.counts, np.int32(n), np.int32(most), np.float32(iou_thresh), mask),
    )
    _NMS.launch(
        "nms_sweep",
        (b, 1, 1),
        (_SWEEPING, 1, 1),
        (mask, boxes.counts, np.int32(most), np.int32(n_word), np.int32(limit), kept.rows, kept.counts),
    )
    return kept
