"""RoI head of FCIS."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import to_numpy
from cvzoo.backends.transfer import on_host
from cvzoo.functions.array.dtypes import widened
from cvzoo.geometry.clip_bbox import clip_bbox
from cvzoo.geometry.coding import decode_bbox
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.typing.aliases import Array

Four = tuple[float, float, float, float]


class RegionOutputs(NamedTuple):
    """For R regions: seg_scores (R, 2, S, S), outside and inside of the mask; ag_locs (R, 2, 4), of background and of
    objects; cls_scores (R, n_class); rois (R, 4); roi_indices (R,). Scores are logits."""

    seg_scores: Variable
    ag_locs: Variable
    cls_scores: Variable
    rois: np.ndarray
    roi_indices: np.ndarray


class FCISResNet101Head(Chain):
    """RoI head of FCIS: class scores, masks and offsets of each region.

    n_class: with the background
    roi_size, group_size: regions are pooled to roi_size x roi_size cells of group_size x group_size position-sensitive
        maps
    spatial_scale: ratio of the map's to the network input's resolution
    loc_normalize_mean, loc_normalize_std: outputs times std plus mean are the offsets
    in_channels, mid_channels: of C5, and of the 1 x 1 convolution on it

    Source: Li et al., "Fully Convolutional Instance-aware Semantic Segmentation", 2017, section 3
    """

    def __init__(
        self,
        n_class: int,
        roi_size: int = 21,
        group_size: int = 7,
        spatial_scale: float = 1 / 16,
        *,
        loc_normalize_mean: Four = (0.0, 0.0, 0.0, 0.0),
        loc_normalize_std: Four = (0.2, 0.2, 0.5, 0.5),
        in_channels: int = 2048,
        mid_channels: int = 1024,
    ):
        self.n_class = n_class
        self.roi_size, self.group_size, self.spatial_scale = roi_size, group_size, spatial_scale
        self.loc_normalize_mean, self.loc_normalize_std = loc_normalize_mean, loc_normalize_std
        places = group_size * group_size
        start = Normal(0.01)
        with self.init_scope():
            self.conv1 = Convolution2D(in_channels, mid_channels, 1, initialW=start)
            self.cls_seg = Convolution2D(mid_channels, places * n_class * 2, 1, initialW=start)
            self.ag_loc = Convolution2D(mid_channels, places * 2 * 4, 1, initialW=start)

    def forward(
        self,
        x: Variable | Array,
        rois: np.ndarray,
        roi_indices: np.ndarray,
        img_size: Sequence[int],
        gt_roi_labels: np.ndarray | None = None,
        *,
        iter2: bool = True,
    ) -> RegionOutputs:
        """The outputs of the regions of x (B, C, H, W).

        img_size: (H, W) of the network's input
        gt_roi_labels: (R,) classes whose masks are returned; None: the most probable ones
        iter2: whether the head runs a second time on the refined regions; its outputs are appended to the first
        """
        h = F.relu(self.conv1(x))
        maps = self.cls_seg(h), self.ag_loc(h)
        first = self._pool(maps, rois, roi_indices, gt_roi_labels)
        if not iter2:
            return RegionOutputs(*first, rois, roi_indices)
        (loc,) = on_host((widened(first[1]).array,))
        loc = loc[:, 1] * np.asarray(self.loc_normalize_std, np.float32)
        moved = clip_bbox(decode_bbox(loc + np.asarray(self.loc_normalize_mean, np.float32), rois), img_size)
        second = self._pool(maps, moved, roi_indices, gt_roi_labels)
        seg_scores, ag_locs, cls_scores = (F.concat(pair, axis=0) for pair in zip(first, second))
        return RegionOutputs(
            seg_scores, ag_locs, cls_scores, np.concatenate([rois, moved]), np.concatenate([roi_indices, roi_indices])
        )

    def _pool(
        self, maps: tuple[Variable, Variable], rois: np.ndarray, roi_indices: np.ndarray, labels: np.ndarray | None
    ) -> tuple[Variable, Variable, Variable]:
        n, size = len(rois), self.roi_size
        of_seg, of_loc = maps
        where = (rois, roi_indices)
        seg = F.ps_roi_average_pooling_2d(
            of_seg, *where, (self.n_class * 2, size, size), self.spatial_scale, self.group_size
        )
        seg = F.reshape(seg, (n, self.n_class, 2, size, size))
        loc = F.ps_roi_average_pooling_2d(of_loc, *where, (8, size, size), self.spatial_scale, self.group_size)
        # the class score of a cell is the maximum of its inside and outside scores
        cls_scores = F.average(F.max(seg, axis=2), axis=(2, 3))
        ag_locs = F.reshape(F.average(loc, axis=(2, 3)), (n, 2, 4))
        labels = to_numpy(cls_scores.array).argmax(axis=1) if labels is None else labels
        return seg[np.arange(n), labels], ag_locs, cls_scores
