"""The losses of regions, shared by networks in two stages."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.links.chain import Chain
from cvzoo.links.model.faster_rcnn.abstract_faster_rcnn import AbstractFasterRCNN
from cvzoo.links.model.faster_rcnn.anchor_target_creator import AnchorTargetCreator
from cvzoo.links.model.faster_rcnn.proposal_target_creator import ProposalTargetCreator
from cvzoo.reporting.reporter import report


def loc_loss(loc: Variable, gt_loc: np.ndarray, gt_label: np.ndarray, sigma: float) -> Variable:
    """Smooth L1 of the offsets (N, 4) of what has an object, over the number of all that are learned from.

    gt_label: (N,), above 0 an object, 0 background, -1 not learned from
    sigma: the loss is quadratic below 1 / sigma ** 2
    """
    positive = np.flatnonzero(gt_label > 0)
    n = max(int((gt_label >= 0).sum()), 1)
    return F.smooth_l1(loc[positive], gt_loc[positive], beta=1 / sigma**2, reduce="sum") * (1 / n)


def rpn_losses(
    rpn_locs: Variable,
    rpn_scores: Variable,
    anchor: np.ndarray,
    bboxes: Sequence[np.ndarray],
    sizes: Sequence[Sequence[int]],
    creator: AnchorTargetCreator,
    sigma: float,
) -> tuple[Variable, Variable]:
    """(offsets', classes') loss of a batch's anchors.

    rpn_locs: (B, S, 4); rpn_scores: (B, S, 2); anchor: (S, 4)
    bboxes: of each photo (R, 4); sizes: of each photo (H, W)
    """
    targets = [creator(bbox, anchor, tuple(size)) for bbox, size in zip(bboxes, sizes)]
    gt_loc = np.concatenate([loc for loc, _ in targets])
    gt_label = np.concatenate([label for _, label in targets])
    locs, scores = F.reshape(rpn_locs, (-1, 4)), F.reshape(rpn_scores, (-1, 2))
    return loc_loss(locs, gt_loc, gt_label, sigma), F.softmax_cross_entropy(scores, gt_label)


def picked_locs(roi_cls_locs: Any, label: np.ndarray) -> Variable:
    """(R, 4): of each region the offsets (R, n_class * 4) of its class."""
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
    """What the second stage learns from: regions (S, 4), their photos (S,), true offsets (S, 4) and classes (S,).

    rois, roi_indices: what the first stage proposes, and of which photo
    bboxes, labels: of each photo (R, 4) and (R,)
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
    return roi, photo_numbers([len(each) for each, _, _ in sampled]), gt_loc, gt_label


def photo_numbers(counts: Sequence[int]) -> np.ndarray:
    """(S,) int32: the number of the photo of each of its `counts` regions."""
    return np.repeat(np.arange(len(counts), dtype=np.int32), counts)


def sizes_of_photos(
    chain: Chain, imgs: Any, sizes: Sequence[Sequence[int]] | None, *truths: Sequence[np.ndarray]
) -> Sequence[Sequence[int]]:
    """sizes, or those of imgs for None. Raises ShapeError if sizes or truths do not have one element a photo."""
    n = imgs.shape[0]
    sizes = [imgs.shape[2:]] * n if sizes is None else sizes
    got = tuple(map(len, (*truths, sizes)))
    if set(got) != {n}:
        raise ShapeError(f"{type(chain).__name__}: one element a photo", expected=n, got=got)
    return sizes


def reported_sum(losses: Mapping[str, Variable], chain: Chain) -> Variable:
    """The sum of the losses, which is told to the reporter as "loss", as well as each of them by its name."""
    first, *others = losses.values()
    loss = sum(others, first)
    report({"loss": loss, **losses}, chain)
    return loss
