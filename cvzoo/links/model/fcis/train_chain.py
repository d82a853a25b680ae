"""What FCIS is trained with: the network and its losses as one link."""

from collections.abc import Sequence

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.loss.batch_part import AbstractBatchLoss, batch_divisor
from cvzoo.geometry.mask_to_bbox import mask_to_bbox
from cvzoo.links.chain import Chain
from cvzoo.links.model.check_objects import check_objects
from cvzoo.links.model.faster_rcnn.targets import AnchorTargetCreator, ProposalTargetCreator, bbox2loc
from cvzoo.links.model.faster_rcnn.train_chain import (
    class_loss,
    image_indices_of,
    image_sizes,
    loc_loss,
    reported_sum,
    rpn_losses,
)
from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101
from cvzoo.links.model.fcis.mask_voting import resize_map, rounded
from cvzoo.typing.aliases import Array

_MASK_WEIGHT = 10.0  # of a region's mask loss, which is divided by the number of its cells


class FCISTrainChain(AbstractBatchLoss, Chain):
    """Training loss of FCIS, a scalar: `FCISTrainChain(model)(imgs, masks, labels, scales)`.

    fcis: the network; iter2 does not apply in training
    rpn_sigma, roi_sigma: smooth L1 is quadratic below 1 / sigma ** 2
    anchor_target_creator, proposal_target_creator: samplers of anchors and regions
    binary_thresh: a cell of a region is inside of the mask if at least this fraction of it is

    Reports loss, rpn_loc_loss, rpn_cls_loss, roi_loc_loss, roi_cls_loss, roi_mask_loss.
    Source: Li et al., "Fully Convolutional Instance-aware Semantic Segmentation", 2017, section 3.3, with regions
    sampled at random instead of hard examples, as in ChainerCV.
    """

    def __init__(
        self,
        fcis: FCISResNet101,
        rpn_sigma: float = 3.0,
        roi_sigma: float = 1.0,
        anchor_target_creator: AnchorTargetCreator | None = None,
        proposal_target_creator: ProposalTargetCreator | None = None,
        *,
        binary_thresh: float = 0.4,
    ):
        self.rpn_sigma, self.roi_sigma = rpn_sigma, roi_sigma
        self.binary_thresh = binary_thresh
        self.anchor_target_creator = AnchorTargetCreator() if anchor_target_creator is None else anchor_target_creator
        self.proposal_target_creator = (
            ProposalTargetCreator(neg_iou_thresh_lo=0.1) if proposal_target_creator is None else proposal_target_creator
        )
        with self.init_scope():
            self.fcis = fcis

    def forward(
        self,
        imgs: Variable | Array,
        masks: Sequence[np.ndarray],
        labels: Sequence[np.ndarray],
        scales: float | Sequence[float] = 1.0,
        sizes: Sequence[Sequence[int]] | None = None,
    ) -> Variable:
        """The loss, a scalar.

        imgs: (B, 3, H, W) float32, preprocessed; smaller ones padded at the bottom and at the right
        masks, labels: of each image (R, H', W') bool, pixels of imgs, and (R,) int32; R may be 0
        scales: the scale of each image in the network's input, one number or one per image
        sizes: (H, W) of each image in imgs; None: all of it
        Raises ShapeError if there is not one element per image.
        What `check_objects` raises.
        """
        sizes = image_sizes(self, imgs, sizes, masks, labels)
        model = self.fcis
        bboxes = [mask_to_bbox(mask).astype(np.float32) for mask in masks]
        check_objects(type(self).__name__, bboxes, labels, model.n_fg_class)
        for_rpn, for_head = model.features(imgs)
        rpn_locs, rpn_scores, rois, roi_indices, anchor = model.rpn(for_rpn, sizes, scales)
        rpn_loc_loss, rpn_cls_loss = rpn_losses(
            rpn_locs, rpn_scores, anchor, bboxes, sizes, self.anchor_target_creator, self.rpn_sigma
        )
        sampled = [self._sampled(rois[roi_indices == i], *each) for i, each in enumerate(zip(bboxes, masks, labels))]
        roi, gt_loc, gt_label, gt_mask = (np.concatenate(each) for each in zip(*sampled))
        indices = image_indices_of([len(each[0]) for each in sampled])
        out = model.head(for_head, roi, indices, imgs.shape[2:], gt_label, iter2=False)
        of_kind = out.ag_locs[np.arange(len(roi)), (gt_label > 0).astype(int)]
        roi_loc_loss = loc_loss(of_kind, gt_loc, gt_label, self.roi_sigma)
        roi_cls_loss = class_loss(out.cls_scores, gt_label)
        each = F.softmax_cross_entropy(out.seg_scores, gt_mask, reduce="no")
        roi_mask_loss = F.sum(each) * (_MASK_WEIGHT / batch_divisor(each.size))
        losses = {
            "rpn_loc_loss": rpn_loc_loss,
            "rpn_cls_loss": rpn_cls_loss,
            "roi_loc_loss": roi_loc_loss,
            "roi_cls_loss": roi_cls_loss,
            "roi_mask_loss": roi_mask_loss,
        }
        return reported_sum(losses, self)

    def _sampled(
        self, roi: np.ndarray, bbox: np.ndarray, mask: np.ndarray, label: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Regions, their target offsets and classes, and (S, cells, cells) int32: 1 inside, 0 outside, -1 no object."""
        model = self.fcis
        sampled = self.proposal_target_creator.sample(roi, bbox, label)
        side = (model.roi_size, model.roi_size)
        gt_mask = np.full((len(sampled.roi), *side), -1, np.int32)
        loc = np.zeros(sampled.roi.shape, np.float32)
        if len(bbox):
            loc = bbox2loc(sampled.roi, bbox[sampled.gt_index]) - np.asarray(model.loc_normalize_mean, np.float32)
            loc /= np.asarray(model.loc_normalize_std, np.float32)
            pixels = rounded(sampled.roi, mask.shape[1:])
            for s in np.flatnonzero(sampled.label):
                top, left, bottom, right = pixels[s].tolist()
                part = mask[sampled.gt_index[s], top:bottom, left:right]
                if part.size:
                    gt_mask[s] = resize_map(part, side) >= self.binary_thresh
        return sampled.roi, loc, sampled.label, gt_mask
