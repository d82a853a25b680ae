"""A detector's boxes found on a GPU, and the only copy of a predict back to the host."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.backends.cuda.boxes import UNBOUNDED, finish_boxes, unpacked
from cvzoo.backends.cuda.constants import constants
from cvzoo.backends.cuda.nms import nms_batch
from cvzoo.backends.cuda.selection import Candidates, Selected, sort_candidates
from cvzoo.backends.cuda.staging import download
from cvzoo.backends.cupy.library import cupy

Found = tuple[np.ndarray, np.ndarray, np.ndarray]

# sides longer than nothing; no subnormal number, since CuPy's kernels take those for 0
ANY_SIDE = float(np.finfo(np.float32).tiny)
# candidates that are looked at where a detector sets no limit of its own
MOST_CANDIDATES = 8192


class DeviceBoxes(NamedTuple):
    """Boxes of a batch on a GPU.

    result: (B, N) float32, see `backends.cuda.boxes.finish_boxes`
    again: the same of one photo, found on the host; asked for where more boxes scored than kernels look at
    """

    result: Any
    again: Callable[[int], Found]

    def on_host(self) -> list[Found]:
        """bbox (R, 4), label (R,), score (R,) of each photo, by one copy."""
        found = unpacked(download([self.result])[0])
        return [self.again(i) if each is None else each for i, each in enumerate(found)]


def suppressed_result(
    selected: Selected,
    candidates: Candidates,
    frames: Any,
    *,
    nms_thresh: float,
    limit: int | None,
    clip: bool,
    most: int = UNBOUNDED,
    by_pair: bool = False,
) -> Any:
    """(B, N) float32 for `DeviceBoxes`: the best candidates, each class suppressed by itself, that show in their photo.

    most: more of a part were not looked at; by_pair: of equal scores the lower pair comes first, not the earlier part
    """
    boxes = sort_candidates(candidates if by_pair else candidates._replace(pairs=None))
    kept = nms_batch(boxes, iou_thresh=nms_thresh, limit=limit)
    return finish_boxes(boxes, kept, frames=frames, cut=clip, selected=selected, most=most, wanted=limit)


def as_floats(array: Any) -> Any:
    """`array` in float32 and without gaps, as the kernels of boxes read it."""
    return cupy().ascontiguousarray(array.astype(np.float32, copy=False))


def level_parts(counts: Sequence[int], n_class: int) -> list[tuple[int, int]]:
    """Start and count of each level's pairs of place and class."""
    starts = np.concatenate([[0], np.cumsum(counts)]) * n_class
    return [(int(start), int(stop - start)) for start, stop in itertools.pairwise(starts)]


def just_below(score: float) -> float:
    """The float32 before `score`: what is greater than that is at least `score`. Before 0 lies -ANY_SIDE."""
    below = float(np.nextafter(np.float32(score), np.float32(-math.inf)))
    return -ANY_SIDE if -ANY_SIDE < below < 0 else below


def photo_numbers(n_photo: int, n: int) -> Any:
    """(n_photo * n,) int32 on the GPU: which photo each region is in, n of each."""
    return constants.get(("photos", n_photo, n), lambda: np.repeat(np.arange(n_photo, dtype=np.int32), n))
