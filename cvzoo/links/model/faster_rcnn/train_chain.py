"""What a Faster R-CNN is trained with: the network and its losses as one link."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.links.chain import Chain
from cvzoo.links.model.check_objects import check_objects
from cvzoo.links.model.faster_rcnn.abstract_faster_rcnn import AbstractFasterRCNN
from cvzoo.links.model.faster_rcnn.anchor_target_creator import AnchorTargetCreator
from cvzoo.links.model.faster_rcnn.losses import (
    loc_loss,
    picked_locs,
    reported_sum,
    rpn_losses,
    sampled_regions,
    sizes_of_photos,
)
from cvzoo.links.model.faster_rcnn.proposal_target_creator import ProposalTargetCreator


class FasterRCNNTrainChain(Chain):
    """`FasterRCNNTrainChain(model)(imgs, bboxes, labels, scales)` is what to make small, for any number of photos.

    faster_rcnn: the network; both of its stages learn together, end to end
    rpn_sigma, roi_sigma: smooth L1 is quadratic below 1 / sigma ** 2
    anchor_target_creator, proposal_target_creator: what is learned from

    Reports loss, rpn_loc_loss, rpn_cls_loss, roi_loc_loss, roi_cls_loss.
    Source: Ren et al., "Faster R-CNN", 2015, section 3.2, approximate joint training. Where we differ: of a batch, each
    loss is divided by what is learned from in all of its photos.
    """

    def __init__(
        self,
        faster_rcnn: AbstractFasterRCNN,
        rpn_sigma: float = 3.0,
        roi_sigma: float = 1.0,
        anchor_target_creator: AnchorTargetCreator | None = None,
        proposal_target_creator: ProposalTargetCreator | None = None,
    ):
        self.rpn_sigma, self.roi_sigma = rpn_sigma, roi_sigma
        self.anchor_target_creator = AnchorTargetCreator() if anchor_target_creator is None else anchor_target_creator
        self.proposal_target_creator = (
            ProposalTargetCreator() if proposal_target_creator is None else proposal_target_creator
        )
        with self.init_scope():
            self.faster_rcnn = faster_rcnn

    def forward(
        self,
        imgs: Any,
        bboxes: Sequence[np.ndarray],
        labels: Sequence[np.ndarray],
        scales: float | Sequence[float] = 1.0,
        sizes: Sequence[Sequence[int]] | None = None,
    ) -> Variable:
        """The loss, a number.

        imgs: (B, 3, H, W) float32, prepared; smaller ones padded at the bottom and at the right
        bboxes, labels: of each photo (R, 4) float32, pixels of imgs, and (R,) int32; R may be 0
        scales: the network's pixels for one of the photo, a number or one for each photo
        sizes: (H, W) of each photo in imgs; None: all of it
        Raises ShapeError if there is not one element a photo.
        What `check_objects` raises.
        """
        bboxes, labels, scales = as_array(bboxes), as_array(labels), as_array(scales)
        sizes = sizes_of_photos(self, imgs, sizes, bboxes, labels)
        model = self.faster_rcnn
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
        roi_loc_loss = loc_loss(picked_locs(roi_cls_locs, gt_roi_label), gt_roi_loc, gt_roi_label, self.roi_sigma)
        roi_cls_loss = F.softmax_cross_entropy(roi_scores, gt_roi_label)
        losses = {
            "rpn_loc_loss": rpn_loc_loss,
            "rpn_cls_loss": rpn_cls_loss,
            "roi_loc_loss": roi_loc_loss,
            "roi_cls_loss": roi_cls_loss,
        }
        return reported_sum(losses, self)
