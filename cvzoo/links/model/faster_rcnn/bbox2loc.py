"""Boxes as offsets from other boxes and back, by ChainerCV's names and order of arguments."""

from typing import Any

import numpy as np

from cvzoo.geometry.coding import decode_bbox, encode_bbox


def bbox2loc(src_bbox: Any, dst_bbox: Any) -> np.ndarray:
    """(R, 4) offsets dy dx dh dw that turn each of src_bbox (R, 4) into its row of dst_bbox (R, 4).

    Raises ShapeError if the two do not match. See `encode_bbox`.
    """
    return encode_bbox(dst_bbox, src_bbox)


def loc2bbox(src_bbox: Any, loc: Any) -> np.ndarray:
    """(R, 4) boxes that offsets loc (R, 4) make of src_bbox (R, 4).

    Raises ShapeError if the two do not match. See `decode_bbox`, which limits dh and dw to log(1000 / 16).
    """
    return decode_bbox(loc, src_bbox)
