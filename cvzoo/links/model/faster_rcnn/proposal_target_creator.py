"""What each of a few regions should say about a photo's objects."""

import dataclasses
from typing import NamedTuple

import numpy as np

from cvzoo.config.randomness import random_generator
from cvzoo.geometry.bbox_iou import bbox_iou
from cvzoo.links.model.faster_rcnn.bbox2loc import bbox2loc

Four = tuple[float, float, float, float]


class SampledRegions(NamedTuple):
    """roi: (S, 4); gt_index: (S,) which object each overlaps most; label: (S,) int32, 0 background."""

    roi: np.ndarray
    gt_index: np.ndarray
    label: np.ndarray


@dataclasses.dataclass(frozen=True)
class ProposalTargetCreator:
    """`ProposalTargetCreator()(roi, bbox, label)`: regions drawn at random, their true offsets, their classes.

    n_sample: how many regions; None: all that fit a class or the background
    pos_ratio: at most this share has an object
    pos_iou_thresh: a region has the object with which its IoU is highest, if that is at least this
    neg_iou_thresh_hi, neg_iou_thresh_lo: it is background if its highest IoU is below the one, and not below the other

    Source: Girshick, "Fast R-CNN", 2015, section 2.3.
    """

    n_sample: int | None = 128
    pos_ratio: float = 0.25
    pos_iou_thresh: float = 0.5
    neg_iou_thresh_hi: float = 0.5
    neg_iou_thresh_lo: float = 0.0

    def __call__(
        self,
        roi: np.ndarray,
        bbox: np.ndarray,
        label: np.ndarray,
        *,
        loc_normalize_mean: Four = (0.0, 0.0, 0.0, 0.0),
        loc_normalize_std: Four = (0.1, 0.1, 0.2, 0.2),
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(sample_roi (S, 4), gt_roi_loc (S, 4) float32, gt_roi_label (S,) int32: 0 background, 1 the first class).

        roi: (R, 4) float32, pixels of the network's input; the objects' own boxes are added to them
        bbox, label: (N, 4) float32, (N,) int32, the photo's objects; N may be 0
        loc_normalize_mean, loc_normalize_std: the offsets become (loc - mean) / std
        """
        sampled = self.sample(roi, bbox, label)
        if not len(bbox):
            return sampled.roi, np.zeros(sampled.roi.shape, np.float32), sampled.label
        loc = bbox2loc(sampled.roi, bbox[sampled.gt_index].astype(np.float32))
        loc = (loc - np.asarray(loc_normalize_mean, np.float32)) / np.asarray(loc_normalize_std, np.float32)
        return sampled.roi, loc.astype(np.float32), sampled.label

    def sample(self, roi: np.ndarray, bbox: np.ndarray, label: np.ndarray) -> SampledRegions:
        """The regions drawn, those with an object first."""
        roi = np.concatenate([roi, bbox]).astype(np.float32)
        n_sample = len(roi) if self.n_sample is None else self.n_sample
        if len(bbox):
            iou = bbox_iou(roi, bbox)
            gt_index = iou.argmax(axis=1)
            highest = iou[np.arange(len(roi)), gt_index]
        else:
            gt_index, highest = np.zeros(len(roi), int), np.zeros(len(roi), np.float32)
        rng = random_generator()
        positive = np.flatnonzero(highest >= self.pos_iou_thresh) if len(bbox) else np.zeros(0, int)
        n_pos = min(round(n_sample * self.pos_ratio), len(positive))
        if n_pos < len(positive):
            positive = rng.choice(positive, n_pos, replace=False)
        negative = np.flatnonzero((highest < self.neg_iou_thresh_hi) & (highest >= self.neg_iou_thresh_lo))
        n_neg = min(n_sample - n_pos, len(negative))
        if n_neg < len(negative):
            negative = rng.choice(negative, n_neg, replace=False)
        keep = np.concatenate([positive, negative])
        classes = np.zeros(len(keep), np.int32)
        classes[:n_pos] = np.asarray(label, np.int32)[gt_index[positive]] + 1 if n_pos else 0
        return SampledRegions(roi[keep], gt_index[keep], classes)
