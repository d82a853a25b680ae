"""From a photo to a YOLO network's input, and from its heads back to boxes in the photo's pixels."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.yolo.decode import Found, RegionHead, YoloHead
from cvzoo.transforms.letterbox import letterbox, unletterbox_bbox
from cvzoo.transforms.resize import resize
from cvzoo.transforms.resize_bbox import resize_bbox

Fit = Literal["stretch", "letterbox"]


def checked_insize(insize: int) -> int:
    """The number itself. Raises ValueRangeError unless it is a positive multiple of 32."""
    if isinstance(insize, bool) or not isinstance(insize, int) or insize < 32 or insize % 32:
        raise ValueRangeError("insize must be a multiple of 32", got=repr(insize))
    return insize


def to_input(img: np.ndarray, input_size: tuple[int, int], fit: Fit) -> np.ndarray:
    """(3, *input_size) float32 in [0, 1], a new array.

    img: (3, H, W) float32 RGB in [0, 255]
    fit: "stretch" takes the network's proportions, "letterbox" keeps the photo's and fills up with grey
    """
    x = letterbox(img, input_size) if fit == "letterbox" else resize(img, input_size)
    x *= np.float32(1 / 255)
    return x


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
    size: (H, W) of the photo; fit: what `to_input` did
    """
    found = [head.decode(raw, input_size, score_thresh) for head, raw in zip(heads, outputs)]
    bbox, label, score = (np.concatenate(each) for each in zip(*found))
    if fit == "letterbox":
        return unletterbox_bbox(bbox, size, input_size), label, score
    return resize_bbox(bbox, input_size, size), label, score
