"""What a Faster R-CNN is trained with: the network and its losses as one link."""

from collections.abc import Mapping, Sequence

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.loss.batch_part import AbstractBatchLoss, as_batch_mean, batch_divisor
from cvzoo.links.chain import Chain
from cvzoo.links.model.check_objects import check_objects
from cvzoo.links.model.faster_rcnn.abstract_faster_rcnn import AbstractFasterRCNN
from cvzoo.links.model.faster_rcnn.targets import AnchorTargetCreator, ProposalTargetCreator
from cvzoo.reporting.reporter import report
from cvzoo.typing.aliases import Array


def loc_loss(loc: Variable, gt_loc: np.ndarray, gt_label: np.ndarray, sigma: float) -> Variable:
    """Smooth L1 loss of the offsets (N, 4) of positive samples, divided by the number of all samples.

    gt_label: (N,), above 0 an object, 0 background, -1 ignored
    sigma: the loss is quadratic below 1 / sigma ** 2
    """
    positive = np.flatnonzero(gt_label > 0)
    n = batch_divisor(int((gt_label >= 0).sum()))
    # py-faster-rcnn multiplies differences by sigma ** 2 before comparing them with 1; beta is the same limit
    return F.smooth_l1(loc[positive], gt_loc[positive], beta=1 / sigma**2, reduce="sum") * (1 / n)


def class_loss(scores: Variable, gt_label: np.ndarray) -> Variable:
    """Mean softmax cross entropy of samples; scores: (N, C); gt_label: (N,), -1 ignored."""
    return as_batch_mean(F.softmax_cross_entropy(scores, gt_label), int((gt_label >= 0).sum()))


def rpn_losses(
    rpn_locs: Variable,
    rpn_scores: Variable,
    anchor: np.ndarray,
    bboxes: Sequence[np.ndarray],
    sizes: Sequence[Sequence[int]],
    creator: AnchorTargetCreator,
    sigma: float,
) -> tuple[Variable, Variable]:
    """(loss of the offsets, loss of the classes) of a batch's anchors.

    rpn_locs: (B, S, 4); rpn_scores: (B, S, 2); anchor: (S, 4)
    bboxes: of each image (R, 4); sizes: of each image (H, W)
    """
    targets = [creator(bbox, anchor, (height, width)) for bbox, (height, width) in zip(bboxes, sizes)]
    gt_loc = np.concatenate([loc for loc, _ in targets])
    gt_label = np.concatenate([label for _, label in targets])
    locs, scores = F.reshape(rpn_locs, (-1, 4)), F.reshape(rpn_scores, (-1, 2))
    return loc_loss(locs, gt_loc, gt_label, sigma), class_loss(scores, gt_label)


def picked_locs(roi_cls_locs: Variable, label: np.ndarray) -> Variable:
    """(R, 4): for each region the offsets of its class, of (R, n_class * 4)."""
    locs = F.reshape(roi_cls_locs, (len(label), roi_cls_locs.shape[1] // 4, 4))
    return locs[np.arange(len(label)), label]


def sampled_regions(
    creator: ProposalTargetCreator,
    model: AbstractFasterRCNN,
    rois: np.ndarray,
    roi_indices: np.ndarray,
    bboxes: Sequence[np.ndarray],
    labels: Sequence[np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Samples of the second stage: regions (S, 4), their images (S,), target offsets (S, 4) and classes (S,).

    rois, roi_indices: proposals of the first stage, and the index of each one's image
    bboxes, labels: of each image (R, 4) and (R,)
    """
    sampled = [
        creator(
            rois[roi_indices == i],
            bbox,
            label,
            loc_normalize_mean=model.loc_normalize_mean,
            loc_normalize_std=model.loc_normalize_std,
        )
        for i, (bbox, label) in enumerate(zip(bboxes, labels))
    ]
    roi, gt_loc, gt_label = (np.concatenate(each) for each in zip(*sampled))
    return roi, image_indices_of([len(each) for each, _, _ in sampled]), gt_loc, gt_label


def image_indices_of(counts: Sequence[int]) -> np.ndarray:
    """(S,) int32: index i `counts[i]` times, for each image."""
    return np.repeat(np.arange(len(counts), dtype=np.int32), counts)


def image_sizes(
    chain: Chain, imgs: Variable | Array, sizes: Sequence[Sequence[int]] | None, *truths: Sequence[np.ndarray]
) -> Sequence[Sequence[int]]:
    """sizes, or those of imgs for None. Raises ShapeError unless sizes and ground truth have one element per image."""
    n = imgs.shape[0]
    known: Sequence[Sequence[int]] = [imgs.shape[2:]] * n if sizes is None else sizes
    got = tuple(map(len, (*truths, known)))
    if set(got) != {n}:
        raise ShapeError(f"{type(chain).__name__}: one element per image", expected=n, got=got)
    return known


def reported_sum(losses: Mapping[str, Variable], chain: Chain) -> Variable:
    """The sum of the losses, reported as "loss"; each of them is reported by its name."""
    first, *others = losses.values()
    loss = sum(others, first)
    report({"loss": loss, **losses}, chain)
    return loss


class FasterRCNNTrainChain(AbstractBatchLoss, Chain):
    """Training loss of Faster R-CNN, a scalar: `FasterRCNNTrainChain(model)(imgs, bboxes, labels, scales)`.

    faster_rcnn: the network; both stages are trained end to end
    rpn_sigma, roi_sigma: smooth L1 is quadratic below 1 / sigma ** 2
    anchor_target_creator, proposal_target_creator: samplers of anchors and regions

    Reports loss, rpn_loc_loss, rpn_cls_loss, roi_loc_loss, roi_cls_loss.
    Source: Ren et al., "Faster R-CNN", 2015, section 3.2, approximate joint training. Where we differ: each loss
    is divided by the number of samples in the whole batch.
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
        imgs: Variable | Array,
        bboxes: Sequence[np.ndarray],
        labels: Sequence[np.ndarray],
        scales: float | Sequence[float] = 1.0,
        sizes: Sequence[Sequence[int]] | None = None,
    ) -> Variable:
        """The loss, a scalar.

        imgs: (B, 3, H, W) float32, preprocessed; smaller ones padded at the bottom and at the right
        bboxes, labels: of each image (R, 4) float32, pixels of imgs, and (R,) int32; R may be 0
        scales: the scale of each image in the network's input, one number or one per image
        sizes: (H, W) of each image in imgs; None: all of it
        Raises ShapeError if there is not one element per image.
        What `check_objects` raises.
        """
        bboxes, labels, scales = as_array(bboxes), as_array(labels), as_array(scales)
        sizes = image_sizes(self, imgs, sizes, bboxes, labels)
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
        roi_cls_loss = class_loss(roi_scores, gt_roi_label)
        losses = {
            "rpn_loc_loss": rpn_loc_loss,
            "rpn_cls_loss": rpn_cls_loss,
            "roi_loc_loss": roi_loc_loss,
            "roi_cls_loss": roi_cls_loss,
        }
        return reported_sum(losses, self)
