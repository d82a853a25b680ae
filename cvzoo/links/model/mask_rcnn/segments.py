"""Conversion between image masks and box masks, as in ChainerCV's Mask R-CNN."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.transforms.resize import resize

_PAD = 1  # cells of zero padding of a square, so that resizing has no hard edge at its border


def mask_to_segm(mask: np.ndarray, bbox: np.ndarray, segm_size: int, index: np.ndarray | None = None) -> np.ndarray:
    """Masks cropped to boxes and resized to squares, (R, segm_size, segm_size) float32, 0 or 1.

    mask: (N, H, W) bool
    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels; 0 beyond the image
    index: (R,) int, the index of each box's mask; None: one mask per box, in order
    Needs OpenCV, for its bilinear interpolation.
    Raises ShapeError if masks and boxes do not match; MissingExtraError without OpenCV.
    """
    bbox = as_bbox(bbox)
    index = np.arange(len(bbox)) if index is None else np.asarray(index)
    if mask.ndim != 3 or len(index) != len(bbox):
        raise ShapeError(
            "mask_to_segm: there must be masks (N, H, W) and one index per box", got=(mask.shape, len(index), len(bbox))
        )
    size = segm_size + 2 * _PAD
    segms = np.zeros((len(bbox), segm_size, segm_size), np.float32)
    for segm, i, window in zip(segms, index, _windows(bbox, segm_size)):
        in_image, in_window = _overlap(window, mask.shape[1:])
        piece = np.zeros((1, *(window[2:] - window[:2])), np.float32)
        piece[0][in_window] = mask[i][in_image]
        if piece[0][in_window].size:
            square = resize(piece, (size, size), backend="opencv")[0]
            segm[:] = square[_PAD:-_PAD, _PAD:-_PAD].astype(np.int32)
    return segms


def segm_to_mask(segm: np.ndarray, bbox: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Square masks resized to their boxes, (R, H, W) bool: where they are above 0.5.

    segm: (R, S, S) float32
    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels
    size: (H, W) of the image
    Needs OpenCV, for its bilinear interpolation.
    Raises ShapeError unless there is one square per box; MissingExtraError without OpenCV.
    """
    bbox = as_bbox(bbox)
    if segm.ndim != 3 or len(segm) != len(bbox):
        raise ShapeError(
            "segm_to_mask: there must be one square per box", expected=f"({len(bbox)}, S, S)", got=segm.shape
        )
    masks = np.zeros((len(bbox), *size), np.bool_)
    padded = np.pad(segm.astype(np.float32), ((0, 0), (_PAD, _PAD), (_PAD, _PAD)))
    for mask, square, window in zip(masks, padded, _windows(bbox, segm.shape[2])):
        sides = window[2:] - window[:2]
        if (sides > 0).all():
            in_image, in_window = _overlap(window, size)
            mask[in_image] = (resize(square[None], sides, backend="opencv")[0] > 0.5)[in_window]
    return masks


def _windows(bbox: np.ndarray, segm_size: int) -> np.ndarray:
    """(R, 4) int: the boxes expanded by the padding, in whole pixels."""
    half = (bbox[:, 2:] - bbox[:, :2]) * 0.5 * ((segm_size + 2 * _PAD) / segm_size)
    middle = (bbox[:, 2:] + bbox[:, :2]) * 0.5
    return np.round(np.concatenate([middle - half, middle + half], axis=1)).astype(np.int64)


def _overlap(window: np.ndarray, size: tuple[int, ...]) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """Slices of a window in an image of that size, and of the same pixels in the window."""
    low = np.clip(window[:2], 0, size)
    high = np.maximum(np.clip(window[2:], 0, size), low)
    inner_low, inner_high = low - window[:2], high - window[:2]
    (y, x), (v, u) = (
        (slice(int(a[0]), int(b[0])), slice(int(a[1]), int(b[1]))) for a, b in ((low, high), (inner_low, inner_high))
    )
    return (y, x), (v, u)
