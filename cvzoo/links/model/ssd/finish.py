"""Boxes of a stretched photo in the photo's own pixels."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.backends.cuda.boxes import UNBOUNDED, frame
from cvzoo.backends.cuda.staging import upload
from cvzoo.geometry.clip_bbox import clip_bbox
from cvzoo.links.model.finished_boxes import MOST_CANDIDATES, DeviceBoxes, suppressed_result

Found = tuple[np.ndarray, np.ndarray, np.ndarray]


def boxes_of_photo(found: Found, seen: tuple[int, int], size: tuple[int, int], *, clip: bool) -> Found:
    """bbox (R, 4), label (R,), score (R,) in pixels of the photo; what has no number for a side is dropped.

    found: the same in pixels of the network's input
    seen: (H, W) of the network's input; size: of the photo
    clip: cut boxes at the photo's edges; those of which nothing is left stay, and count against the limit as in
        torchvision
    """
    bbox, label, score = found
    with np.errstate(invalid="ignore"):
        kept = np.isfinite(bbox).all(axis=1)
        if clip:
            bbox = clip_bbox(bbox, seen)
    ratio = np.float32(size) / np.float32(seen)
    return bbox[kept] * np.tile(ratio, 2), label[kept], score[kept]


def boxes_of_photos_on_device(
    model: Any,
    outputs: Sequence[Any],
    sizes: Sequence[tuple[int, int]],
    *,
    n_candidate: int | None,
    clip: bool,
) -> DeviceBoxes:
    """The boxes of an SSD for `outputs` of its `forward` on a GPU.

    model: its `coder`, `insize` and thresholds
    n_candidate: of a class; None: all; clip: as in `boxes_of_photo`
    """
    seen = (model.insize, model.insize)
    frames = [frame(s, cut=seen if clip else None, factor=np.float32(s) / np.float32(seen)) for s in sizes]
    (frames,) = upload([np.stack(frames)])
    found = model.coder.decode_on_device(
        *outputs,
        score_thresh=model.score_thresh,
        n_candidate=n_candidate,
        frames=frames,
        min_side=-math.inf,
    )
    result = suppressed_result(
        *found,
        frames,
        nms_thresh=model.nms_thresh,
        limit=model.limit,
        clip=model.clip,
        most=MOST_CANDIDATES if n_candidate is None else UNBOUNDED,
        by_pair=True,
    )
    return DeviceBoxes(result, lambda i: model.found_again(outputs, i, sizes[i]))
