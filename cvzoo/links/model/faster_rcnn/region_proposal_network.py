"""The network that proposes regions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.transfer import on_host
from cvzoo.functions.array.dtypes import widened
from cvzoo.geometry.anchors import grid_anchors
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.model.decoding.proposals import Proposals
from cvzoo.links.model.faster_rcnn.generate_anchor_base import generate_anchor_base
from cvzoo.links.model.faster_rcnn.proposal_creator import ProposalCreator


class RegionProposalNetwork(Chain):
    """Scores every anchor at every place of a feature map, moves it, and keeps the best.

    in_channels, mid_channels: of the map, and of the 3 x 3 convolution
    ratios, anchor_scales: see `generate_anchor_base`
    feat_stride: pixels of the photo for one of the map
    initialW: what the weights start from; Normal(0.01) by default
    proposal_creator: what keeps the best

    Source: Ren et al., "Faster R-CNN", 2015, section 3.1. Where we differ, as ChainerCV does: regions are ordered by
    the foreground's score itself, not by its softmax against the background's.
    """

    replayed = ("outputs",)

    def __init__(
        self,
        in_channels: int = 512,
        mid_channels: int = 512,
        ratios: Sequence[float] = (0.5, 1, 2),
        anchor_scales: Sequence[float] = (8, 16, 32),
        feat_stride: int = 16,
        initialW: Any = None,
        *,
        proposal_creator: ProposalCreator | None = None,
    ):
        self.anchor_base = generate_anchor_base(ratios=ratios, anchor_scales=anchor_scales)
        self.feat_stride = feat_stride
        self.proposal_creator = ProposalCreator() if proposal_creator is None else proposal_creator
        n_anchor = len(self.anchor_base)
        initialW = Normal(0.01) if initialW is None else initialW
        with self.init_scope():
            self.conv1 = Convolution2D(in_channels, mid_channels, 3, 1, 1, initialW=initialW)
            self.score = Convolution2D(mid_channels, n_anchor * 2, 1, initialW=initialW)
            self.loc = Convolution2D(mid_channels, n_anchor * 4, 1, initialW=initialW)

    def outputs(self, x: Any) -> tuple[Variable, Variable]:
        """rpn_locs, rpn_scores: what the network says, without the regions made of it."""
        h = F.relu(self.conv1(x))
        rpn_locs = F.reshape(F.transpose(self.loc(h), (0, 2, 3, 1)), (h.shape[0], -1, 4))
        rpn_scores = F.reshape(F.transpose(self.score(h), (0, 2, 3, 1)), (h.shape[0], -1, 2))
        return widened(rpn_locs), widened(rpn_scores)

    def forward(
        self, x: Any, img_size: Sequence[Any], scales: float | Sequence[float] = 1.0
    ) -> tuple[Variable, Variable, np.ndarray, np.ndarray, np.ndarray]:
        """(rpn_locs, rpn_scores, rois, roi_indices, anchor).

        x: (B, C, H, W)
        img_size: (H, W) of the network's input, or one for each photo where they are padded
        scales: the network's pixels for one of the photo, a number or one for each photo
        rpn_locs: (B, S, 4) offsets of the S = H * W * K anchors, by row, column and anchor of the place
        rpn_scores: (B, S, 2) of background and foreground, before a softmax
        rois: (R, 4) float32, the regions of all photos
        roi_indices: (R,) int32, which photo each belongs to
        anchor: (S, 4) float32, pixels of the network's input
        """
        rpn_locs, rpn_scores = self.outputs(x)
        n, _, height, width = x.shape
        anchor = grid_anchors(self.anchor_base, (height, width), (self.feat_stride, self.feat_stride))
        sizes = img_size if np.ndim(img_size) == 2 else [img_size] * n
        scales = np.broadcast_to(np.asarray(scales, float), n).tolist()
        locs, scores = on_host((rpn_locs.array, rpn_scores.array))
        rois = self.proposal_creator.propose(locs, scores[:, :, 1], anchor, sizes, scales).on_images()
        roi_indices = np.repeat(np.arange(n, dtype=np.int32), [len(roi) for roi in rois])
        return rpn_locs, rpn_scores, np.concatenate(rois), roi_indices, anchor

    def propose(self, x: Any, img_size: tuple[int, int], scales: Sequence[float]) -> Proposals:
        """The regions of x (B, C, H, W), on its device; the arguments as for `forward`."""
        locs, scores = self.outputs(x)
        step, grid = (self.feat_stride, self.feat_stride), x.shape[2:]
        key = "RPN", self.anchor_base.tobytes(), grid, self.feat_stride
        anchor = backend_of(locs.array).constant(key, lambda: grid_anchors(self.anchor_base, grid, step))
        sizes = [img_size] * len(scales)
        return self.proposal_creator.propose(locs.array, scores.array[:, :, 1], anchor, sizes, scales)
