"""Region proposal network on a feature pyramid."""

import functools
from collections.abc import Sequence

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.array.dtypes import widened
from cvzoo.geometry.anchors import cell_anchors
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DActiv
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.model.decoding.anchor_levels import LevelAnchors, as_cell
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig


class FPNRegionProposalNetwork(Chain):
    """Region proposal network, shared by all levels: 3 x 3 convolutions, then objectness and offsets of each anchor.

    channels: of the maps
    n_anchor: anchors per position
    """

    def __init__(self, channels: int, n_anchor: int, *, depth: int = 1):
        with self.init_scope():
            self.convs = ChainList(
                *(Conv2DActiv(channels, channels, 3, 1, 1, initialW=Normal(0.01)) for _ in range(depth))
            )
            self.loc = Convolution2D(channels, 4 * n_anchor, 1, initialW=Normal(0.01))
            self.conf = Convolution2D(channels, n_anchor, 1, initialW=Normal(0.01))

    def forward(self, maps: Sequence[Variable]) -> tuple[list[Variable], list[Variable]]:
        """For each level: locs (B, A, 4), dy dx dh dw; confs (B, A), logits.

        maps: (B, channels, H, W) each; A is ordered by row, column and anchor of the position
        """
        locs, confs = [], []
        for h in maps:
            for conv in self.convs:
                h = conv(h)
            locs.append(widened(F.reshape(F.transpose(self.loc(h), (0, 2, 3, 1)), (h.shape[0], -1, 4))))
            confs.append(widened(F.reshape(F.transpose(self.conf(h), (0, 2, 3, 1)), (h.shape[0], -1))))
        return locs, confs


@functools.lru_cache(maxsize=32)
def region_anchors(config: FasterRCNNFPNConfig) -> LevelAnchors:
    """The anchors of the region proposal network, in the style that the config names after its publisher."""
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
    """(K, 4) float32: sides are rounded at the stride's size, then scaled; around the center of the position."""
    cells = []
    for ratio in ratios:
        width = np.round(stride / np.sqrt(ratio))
        sides = np.array([np.round(width * ratio), width]) / stride
        half = np.outer(np.asarray(sizes, np.float64), sides) / 2
        cells.append(np.concatenate([stride / 2 - half, stride / 2 + half], axis=1))
    return np.concatenate(cells).astype(np.float32)
