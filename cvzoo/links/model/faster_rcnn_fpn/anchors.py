"""The anchors of every level of a pyramid."""

from collections.abc import Sequence

import numpy as np

from cvzoo.geometry.anchors import cell_anchors, grid_anchors
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNSettings


def level_anchors(settings: FasterRCNNFPNSettings, size: Sequence[int]) -> list[np.ndarray]:
    """Of each level (A, 4) float32, y_min x_min y_max x_max, pixels of the network's input of `size` (H, W).

    A runs by row, column and anchor of the place.
    """
    height, width = size
    levels = [(-(-height // stride), -(-width // stride)) for stride in settings.strides]
    levels.append(((levels[-1][0] + 1) // 2, (levels[-1][1] + 1) // 2))
    anchors = []
    strides = (*settings.strides, 2 * settings.strides[-1])
    for sizes, (h, w), stride in zip(settings.anchor_sizes, levels, strides):
        step: tuple[int, int] = (stride, stride)
        if settings.anchor_style == "chainercv":
            cell = rounded_at_stride(sizes, settings.anchor_ratios, stride)
        else:
            cell = cell_anchors(sizes, settings.anchor_ratios, rounded=settings.anchor_style == "torchvision")
        if settings.anchor_style == "torchvision":
            # whole pixels: a map of ceil(n / 2) places has another step than 2^l
            step = height // h, width // w
        anchors.append(grid_anchors(cell, (h, w), step))
    return anchors


def rounded_at_stride(sizes: Sequence[float], ratios: Sequence[float], stride: int) -> np.ndarray:
    """(K, 4) float32: sides are rounded for a square of the stride's side, then enlarged; around the place's middle."""
    cells = []
    for ratio in ratios:
        width = np.round(stride / np.sqrt(ratio))
        sides = np.array([np.round(width * ratio), width]) / stride
        half = np.outer(np.asarray(sizes, np.float64), sides) / 2
        cells.append(np.concatenate([stride / 2 - half, stride / 2 + half], axis=1))
    return np.concatenate(cells).astype(np.float32)
