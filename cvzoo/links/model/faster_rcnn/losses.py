"""The losses of regions, shared by networks in two stages."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.model.faster_rcnn.anchor_target_creator import AnchorTargetCreator


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
