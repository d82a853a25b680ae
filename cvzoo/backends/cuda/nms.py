"""Non-maximum suppression on a GPU, with the results of `geometry.nms` and without synchronization."""

from typing import Any, NamedTuple

import numpy as np

from cvzoo.backends.cuda.kernel_module import KernelModule
from cvzoo.backends.cuda.selection import Sorted
from cvzoo.backends.cupy.library import cupy

_MODULE = KernelModule("nms")
# boxes of an image that are compared with each other: 8 MB of bits
MOST = 8192
# what the kernel has room for
_WORDS = 512
_SWEEPING = 256


class Kept(NamedTuple):
    """The boxes selected by non-maximum suppression.

    rows: (B, limit) int32, best first; -1 after the last
    counts: (B,) int32
    most: number of boxes of each image that were considered
    """

    rows: Any
    counts: Any
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
    words = -(-most // 64)
    mask = xp.empty((b, 64 * words, words), np.uint64)
    kept = Kept(xp.empty((b, limit), np.int32), xp.empty((b,), np.int32), most)
    label = boxes.label if classwise else None
    _MODULE.launch(
        "nms_mask",
        (words, words, b),
        (64, 1, 1),
        (boxes.bbox, label, boxes.counts, np.int32(n), np.int32(most), np.float32(iou_thresh), mask),
    )
    _MODULE.launch(
        "nms_sweep",
        (b, 1, 1),
        (_SWEEPING, 1, 1),
        (mask, boxes.counts, np.int32(most), np.int32(words), np.int32(limit), kept.rows, kept.counts),
    )
    return kept
