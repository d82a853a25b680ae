"""Training loss of Light-Head R-CNN."""

from collections.abc import Sequence

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.transfer import on_host
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.loss.batch_part import AbstractBatchLoss, batch_divisor
from cvzoo.functions.loss.reduction import beside
from cvzoo.links.chain import Chain
from cvzoo.links.model.check_objects import check_objects
from cvzoo.links.model.faster_rcnn.targets import AnchorTargetCreator, ProposalTargetCreator
from cvzoo.links.model.faster_rcnn.train_chain import (
    image_sizes,
    picked_locs,
    reported_sum,
    rpn_losses,
    sampled_regions,
)
from cvzoo.links.model.light_head_rcnn.light_head_rcnn_resnet101 import LightHeadRCNNResNet101
from cvzoo.typing.aliases import Array


class LightHeadRCNNTrainChain(AbstractBatchLoss, Chain):
    """Training loss of Light-Head R-CNN, a scalar: `LightHeadRCNNTrainChain(model)(imgs, bboxes, labels, scales)`.

    light_head_rcnn: the network
    rpn_sigma, roi_sigma: smooth L1 is quadratic below 1 / sigma ** 2
    n_ohem_sample: online hard example mining: regions per image, those of the highest loss in the batch
    anchor_target_creator, proposal_target_creator: samplers of anchors and regions; by default all are candidates

    Reports loss, rpn_loc_loss, rpn_cls_loss, roi_loc_loss, roi_cls_loss.
    Source: Li et al., "Light-Head R-CNN", 2017, section 4.1; Shrivastava et al., "Training Region-based Object
    Detectors with Online Hard Example Mining", 2016. The regions' box loss has a weight of 2, as in ChainerCV.
    """

    def __init__(
        self,
        light_head_rcnn: LightHeadRCNNResNet101,
        rpn_sigma: float = 3.0,
        roi_sigma: float = 1.0,
        n_ohem_sample: int = 256,
        anchor_target_creator: AnchorTargetCreator | None = None,
        proposal_target_creator: ProposalTargetCreator | None = None,
    ):
        if n_ohem_sample < 1:
            raise ValueRangeError("LightHeadRCNNTrainChain: n_ohem_sample must be positive", got=n_ohem_sample)
        self.rpn_sigma, self.roi_sigma = rpn_sigma, roi_sigma
        self.n_ohem_sample = n_ohem_sample
        self.anchor_target_creator = AnchorTargetCreator() if anchor_target_creator is None else anchor_target_creator
        self.proposal_target_creator = (
            ProposalTargetCreator(None) if proposal_target_creator is None else proposal_target_creator
        )
        with self.init_scope():
            self.light_head_rcnn = light_head_rcnn

    def forward(
        self,
        imgs: Variable | Array,
        bboxes: Sequence[np.ndarray],
        labels: Sequence[np.ndarray],
        scales: float | Sequence[float] = 1.0,
        sizes: Sequence[Sequence[int]] | None = None,
    ) -> Variable:
        """The loss, a scalar; arguments and errors as for `FasterRCNNTrainChain`."""
        sizes = image_sizes(self, imgs, sizes, bboxes, labels)
        model = self.light_head_rcnn
        check_objects(type(self).__name__, bboxes, labels, model.n_fg_class)
        for_rpn, for_head = model.features(imgs)
        rpn_locs, rpn_scores, rois, roi_indices, anchor = model.rpn(for_rpn, sizes, scales)
        rpn_loc_loss, rpn_cls_loss = rpn_losses(
            rpn_locs, rpn_scores, anchor, bboxes, sizes, self.anchor_target_creator, self.rpn_sigma
        )
        sample_roi, indices, gt_roi_loc, gt_roi_label = sampled_regions(
            self.proposal_target_creator, model, rois, roi_indices, bboxes, labels
        )
        roi_cls_locs, roi_scores = model.head(for_head, sample_roi, indices)
        roi_loc_loss, roi_cls_loss = ohem_losses(
            roi_cls_locs, roi_scores, gt_roi_loc, gt_roi_label, self.n_ohem_sample * len(labels), self.roi_sigma
        )
        roi_loc_loss = roi_loc_loss * 2.0
        losses = {
            "rpn_loc_loss": rpn_loc_loss,
            "rpn_cls_loss": rpn_cls_loss,
            "roi_loc_loss": roi_loc_loss,
            "roi_cls_loss": roi_cls_loss,
        }
        return reported_sum(losses, self)


def ohem_losses(
    roi_cls_locs: Variable,
    roi_scores: Variable,
    gt_roi_loc: np.ndarray,
    gt_roi_label: np.ndarray,
    n_sample: int,
    sigma: float = 1.0,
) -> tuple[Variable, Variable]:
    """(offsets', classes') loss, means over the n_sample regions with the highest sum of the two losses.

    roi_cls_locs: (R, n_class * 4); roi_scores: (R, n_class)
    gt_roi_loc: (R, 4); gt_roi_label: (R,), 0 background
    """
    picked = picked_locs(roi_cls_locs, gt_roi_label)
    each = F.sum(F.smooth_l1(picked, gt_roi_loc, beta=1 / sigma**2, reduce="no"), axis=1)
    loc = each * beside((gt_roi_label > 0).astype(picked.dtype), each)
    cls = F.softmax_cross_entropy(roi_scores, gt_roi_label, reduce="no")
    n = max(min(n_sample, len(gt_roi_label)), 1)
    (total,) = on_host((loc.array + cls.array,))
    hardest = np.argsort(-total, kind="stable")[:n]
    divisor = batch_divisor(n)
    return F.sum(loc[hardest]) * (1 / divisor), F.sum(cls[hardest]) * (1 / divisor)
