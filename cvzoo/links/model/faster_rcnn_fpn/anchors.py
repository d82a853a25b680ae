"""The anchors of every level of a pyramid."""

import functools
from collections.abc import Sequence

import numpy as np

from cvzoo.geometry.anchors import cell_anchors
from cvzoo.links.model.decoding.level_anchors import LevelAnchors, as_cell
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig


@functools.lru_cache(maxsize=32)
def region_anchors(config: FasterRCNNFPNConfig) -> LevelAnchors:
    """The anchors of the region proposal network, in the style of the publisher that the config names."""
    strides = (*config.strides, 2 * config.strides[-1])
    cells = []
    for sizes, stride in zip(config.anchor_sizes, strides):
        if config.anchor_style == "chainercv":
            cell = rounded_at_stride(sizes, config.anchor_ratios, stride)
        else:
            cell = cell_anchors(sizes, config.anchor_ratios, rounded=config.anchor_style == "torchvision")
        cells.append(as_cell(cell))
    return LevelAnchors(tuple(cells), strides[: len(cells)], whole_steps=config.anchor_style == "torchvision")


def rounded_at_stride(sizes: Sequence[float], ratios: Sequence[float], stride: int) -> np.ndarray:
    """(K, 4) float32: sides are rounded for a square of the stride's side, then enlarged; around the place's middle."""
    cells = []
    for ratio in ratios:
        width = np.round(stride / np.sqrt(ratio))
        sides = np.array([np.round(width * ratio), width]) / stride
        half = np.outer(np.asarray(sizes, np.float64), sides) / 2
        cells.append(np.concatenate([stride / 2 - half, stride / 2 + half], axis=1))
    return np.concatenate(cells).astype(np.float32)
