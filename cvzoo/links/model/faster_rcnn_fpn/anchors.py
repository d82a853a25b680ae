"""The anchors of every level of a pyramid."""

from collections.abc import Sequence

import numpy as np

from cvzoo.geometry.anchors import cell_anchors, grid_anchors
from cvzoo.links.model.faster_rcnn_fpn.settings import FasterRCNNFPNSettings


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
        cell = cell_anchors(sizes, settings.anchor_ratios, rounded=settings.anchor_rounded)
        # torchvision's steps are whole pixels: a map of ceil(n / 2) places has another one than 2^l
        step = (height // h, width // w) if settings.anchor_rounded else (stride, stride)
        anchors.append(grid_anchors(cell, (h, w), step))
    return anchors
