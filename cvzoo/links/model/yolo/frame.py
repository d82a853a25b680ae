"""From a photo to a YOLO network's input, and from its heads back to boxes in the photo's pixels."""

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import numpy as np

from cvzoo.backends.cuda.boxes import Coder, decode_selected, decode_yolo, frame
from cvzoo.backends.cuda.constants import constants
from cvzoo.backends.cuda.selection import select_best
from cvzoo.backends.cuda.staging import upload
from cvzoo.backends.cupy.library import cupy
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.finished_boxes import MOST_CANDIDATES, DeviceBoxes, as_floats, suppressed_result
from cvzoo.links.model.preparation.letterbox import Letterbox
from cvzoo.links.model.preparation.stretch import Stretch
from cvzoo.links.model.yolo.decode import Found, RegionHead, YoloHead
from cvzoo.transforms.letterbox import letterbox_frame, unletterbox_bbox
from cvzoo.transforms.resize_bbox import resize_bbox

Fit = Literal["stretch", "letterbox"]
_IN_ONE = "x * (1 / std) - mean / std"


def checked_insize(insize: int) -> int:
    """The number itself. Raises ValueRangeError unless it is a positive multiple of 32."""
    if isinstance(insize, bool) or not isinstance(insize, int) or insize < 32 or insize % 32:
        raise ValueRangeError("insize must be a multiple of 32", got=repr(insize))
    return insize


def darknet_letterbox(input_size: tuple[int, int]) -> Letterbox:
    """In the photo's proportions, filled up with grey; RGB in [0, 1]."""
    return Letterbox(input_size, arithmetic=_IN_ONE)


def darknet_stretch(input_size: tuple[int, int]) -> Stretch:
    """In the network's proportions; RGB in [0, 1]."""
    return Stretch(input_size, std=(255.0,) * 3, arithmetic=_IN_ONE)


def decode_heads(
    heads: Sequence[YoloHead | RegionHead],
    outputs: Sequence[np.ndarray],
    *,
    input_size: tuple[int, int],
    size: tuple[int, int],
    fit: Fit,
    score_thresh: float,
) -> Found:
    """bbox (R, 4), label (R,), score (R,) of one photo, all heads together, unsuppressed, in pixels of the photo.

    outputs: (A * (5 + L), GH, GW) of each head
    size: (H, W) of the photo; fit: how the photo became the input
    """
    found = [head.decode(raw, input_size, score_thresh) for head, raw in zip(heads, outputs)]
    bbox, label, score = (np.concatenate(each) for each in zip(*found))
    if fit == "letterbox":
        return unletterbox_bbox(bbox, size, input_size), label, score
    return resize_bbox(bbox, input_size, size), label, score


class _Model(Protocol):
    score_thresh: float
    nms_thresh: float
    limit: int | None
    clip: bool

    def found_again(self, outputs: Sequence[Any], i: int, size: tuple[int, int]) -> Found: ...


def boxes_of_heads_on_device(
    model: _Model,
    heads: Sequence[YoloHead | RegionHead],
    outputs: Sequence[Any],
    sizes: Sequence[tuple[int, int]],
    *,
    input_size: tuple[int, int],
    fit: Fit,
) -> DeviceBoxes:
    """As `decode_heads` of all photos at once, of outputs (B, A * (5 + L), GH, GW) on a GPU, then suppressed."""
    raws = [as_floats(raw.transpose(0, 2, 3, 1)) for raw in outputs]
    b, n_class = len(sizes), heads[0].n_class
    counts = [raw.shape[1] * raw.shape[2] * len(head.anchors) for raw, head in zip(raws, heads)]
    bbox = cupy().empty((b, sum(counts), 4), np.float32)
    score = cupy().empty((b, sum(counts), n_class), np.float32)
    first = 0
    for head, raw, count in zip(heads, raws, counts):
        _, h, w, _ = raw.shape
        is_region = isinstance(head, RegionHead)
        decode_yolo(
            raw,
            constants.get(("YOLO", head), lambda head=head: np.array(head.anchors, np.float32)),
            n_class=n_class,
            cell=(input_size[0] / h, input_size[1] / w),
            scale_xy=1.0 if is_region else head.scale_xy,
            softmax=is_region and head.softmax,
            plain=not is_region and head.new_coords,
            in_cells=is_region,
            above=model.score_thresh,
            first=first,
            bbox=bbox,
            score=score,
        )
        first += count
    (frames,) = upload([np.stack([_frame_of(size, input_size, fit) for size in sizes])])
    selected = select_best(
        score.reshape(b, -1), [(0, sum(counts) * n_class)], limit=MOST_CANDIDATES, above=model.score_thresh
    )
    candidates = decode_selected(selected, bbox, bbox, frames=frames, n_class=n_class, coder=Coder.BOXES)
    result = suppressed_result(
        selected,
        candidates,
        frames,
        nms_thresh=model.nms_thresh,
        limit=model.limit,
        clip=model.clip,
        most=MOST_CANDIDATES,
    )
    return DeviceBoxes(result, lambda i: model.found_again(outputs, i, sizes[i]))


def _frame_of(size: tuple[int, int], input_size: tuple[int, int], fit: Fit) -> np.ndarray:
    if fit == "stretch":
        return frame(size, factor=[new / old for new, old in zip(size, input_size)])
    resized, offset = letterbox_frame(size, input_size)
    return frame(size, offset=offset, divisor=[new / old for new, old in zip(resized, size)])
