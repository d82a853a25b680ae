"""Region proposal network on one feature map, its anchors and the selection of proposals."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.parameter import Initializer
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.detection import ANY_SIDE, frame
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.transfer import on_host
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.array.dtypes import widened
from cvzoo.geometry.anchors import grid_anchors
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.model.decoding.regions import Proposals
from cvzoo.links.model.dense_heads import flat_boxes
from cvzoo.typing.aliases import Array


def generate_anchor_base(
    base_size: int = 16, ratios: Sequence[float] = (0.5, 1, 2), anchor_scales: Sequence[float] = (8, 16, 32)
) -> np.ndarray:
    """(K, 4) float32, y_min x_min y_max x_max, centered in a square of `base_size` at (0, 0).

    ratios: height over width
    anchor_scales: an anchor's area is (base_size * scale) ** 2
    Returns all scales of the first ratio, then of the second and so on.
    Raises ValueRangeError if a number is not positive or there is none.

    Source: Ren et al., "Faster R-CNN", 2015, section 3.1.1; the center as in ChainerCV, not rounded to whole pixels.
    """
    for name, values in (("base_size", [base_size]), ("ratios", ratios), ("anchor_scales", anchor_scales)):
        if not len(values) or not all(0 < value < float("inf") for value in values):
            raise ValueRangeError(f"generate_anchor_base: {name} must be positive numbers", got=repr(values)[:80])
    side = base_size * np.asarray(anchor_scales, float)
    height = np.outer(np.sqrt(ratios), side).ravel()
    width = np.outer(1 / np.sqrt(ratios), side).ravel()
    middle = base_size / 2
    corners = [middle - height / 2, middle - width / 2, middle + height / 2, middle + width / 2]
    return np.stack(corners, axis=1).astype(np.float32)


@dataclasses.dataclass(frozen=True)
class ProposalCreator:
    """Selection of proposals: `ProposalCreator()(loc, score, anchor, img_size, scale)` returns (R, 4) float32.

    nms_thresh: IoU threshold of NMS
    n_train_pre_nms, n_test_pre_nms: number of highest-scoring candidates for NMS, in training and inference
    n_train_post_nms, n_test_post_nms: maximum number of proposals after NMS
    min_size: proposals with a shorter side are dropped, pixels of the original image; empty ones always are
    """

    nms_thresh: float = 0.7
    n_train_pre_nms: int = 12000
    n_train_post_nms: int = 2000
    n_test_pre_nms: int = 6000
    n_test_post_nms: int = 300
    min_size: float = 16

    def __call__(
        self, loc: np.ndarray, score: np.ndarray, anchor: np.ndarray, img_size: Sequence[int], scale: float = 1.0
    ) -> np.ndarray:
        """(R, 4) float32, y_min x_min y_max x_max, best first, clipped to the image.

        loc: (S, 4) offsets of the anchors
        score: (S,)
        anchor: (S, 4)
        img_size: (H, W) of the network's input
        scale: of the image in the network's input
        """
        proposals = self.propose(loc[None], score[None], anchor, [img_size], [scale])
        return proposals.on_images()[0]

    def propose(
        self, loc: Array, score: Array, anchor: Array, img_sizes: Sequence[Sequence[int]], scales: Sequence[float]
    ) -> Proposals:
        """The same for several images, on the arrays' device: loc (B, S, 4), score (B, S), anchor (S, 4).

        img_sizes, scales: of each image
        """
        train, n = switches.train, anchor.shape[0]
        n_pre = self.n_train_pre_nms if train else self.n_test_pre_nms
        n_post = self.n_train_post_nms if train else self.n_test_post_nms
        backend = backend_of(score)
        sides = [max(self.min_size * scale, ANY_SIDE) for scale in scales]
        frames = np.stack([frame(size, cut=size, min_side=side) for size, side in zip(img_sizes, sides)])
        (frames,) = backend.upload([frames])
        # all are decoded before the selection, so that dropped small boxes are replaced by the next best
        every = backend.select_best(score[:, :, None], [(0, n)], n_class=1, limit=n, above=-np.inf)
        kept = backend.nms(
            backend.decode_boxes(every, loc, anchor, frames=frames),
            iou_thresh=self.nms_thresh,
            limit=n_post if n_post > 0 else None,
            classwise=False,
            n_best=n_pre if 0 < n_pre < n else n,
        )
        return Proposals(*backend.kept_boxes(kept))


class RegionProposalNetwork(Chain):
    """Region proposal network (Ren et al., 2015): scores and offsets of anchors, and the best proposals.

    in_channels, mid_channels: of the map, and of the 3 x 3 convolution
    ratios, anchor_scales: see `generate_anchor_base`
    feat_stride: pixels of the image for one of the map
    initialW: initial weights; Normal(0.01) by default
    proposal_creator: selects the region proposals

    Source: Ren et al., "Faster R-CNN", 2015, section 3.1. Where we differ, as ChainerCV does: regions are ordered by
    the foreground's logit, not by its softmax probability.
    """

    replayed = ("outputs",)

    def __init__(
        self,
        in_channels: int = 512,
        mid_channels: int = 512,
        ratios: Sequence[float] = (0.5, 1, 2),
        anchor_scales: Sequence[float] = (8, 16, 32),
        feat_stride: int = 16,
        initialW: Initializer | Array | float | None = None,
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

    def outputs(self, x: Variable | Array) -> tuple[Variable, Variable]:
        """rpn_locs, rpn_scores: the network's outputs, without the selection of proposals."""
        h = F.relu(self.conv1(x))
        rpn_locs = flat_boxes(self.loc(h), 4)
        rpn_scores = flat_boxes(self.score(h), 2)
        return widened(rpn_locs), widened(rpn_scores)

    def forward(
        self, x: Variable | Array, img_size: Sequence[Any], scales: float | Sequence[float] = 1.0
    ) -> tuple[Variable, Variable, np.ndarray, np.ndarray, np.ndarray]:
        """(rpn_locs, rpn_scores, rois, roi_indices, anchor).

        x: (B, C, H, W)
        img_size: (H, W) of the network's input, or one for each image where they are padded
        scales: the scale of each image in the network's input, one number or one per image
        rpn_locs: (B, S, 4) offsets of the S = H * W * K anchors, by row, column and anchor of the position
        rpn_scores: (B, S, 2) logits of background and foreground
        rois: (R, 4) float32, the proposals of all images
        roi_indices: (R,) int32, index of each proposal's image
        anchor: (S, 4) float32, pixels of the network's input
        """
        rpn_locs, rpn_scores = self.outputs(x)
        n, _, height, width = x.shape
        anchor = grid_anchors(self.anchor_base, (height, width), (self.feat_stride, self.feat_stride))
        sizes = img_size if np.ndim(img_size) == 2 else [img_size] * n
        each_scale = np.broadcast_to(np.asarray(scales, float), n).tolist()
        locs, scores = on_host((rpn_locs.array, rpn_scores.array))
        # by the object's logit alone, as in ChainerCV
        rois = self.proposal_creator.propose(locs, scores[:, :, 1], anchor, sizes, each_scale).on_images()
        roi_indices = np.repeat(np.arange(n, dtype=np.int32), [len(roi) for roi in rois])
        return rpn_locs, rpn_scores, np.concatenate(rois), roi_indices, anchor

    def propose(self, x: Variable | Array, img_size: tuple[int, int], scales: Sequence[float]) -> Proposals:
        """The proposals of x (B, C, H, W), on its device; arguments as for `forward`."""
        locs, scores = self.outputs(x)
        step, grid = (self.feat_stride, self.feat_stride), x.shape[2:]
        key = "RPN", self.anchor_base.tobytes(), grid, self.feat_stride
        anchor = backend_of(locs.array).constant(key, lambda: grid_anchors(self.anchor_base, grid, step))
        sizes = [img_size] * len(scales)
        return self.proposal_creator.propose(locs.array, scores.array[:, :, 1], anchor, sizes, scales)
