"""Training targets of anchors and of sampled regions."""

import dataclasses
from typing import NamedTuple

import numpy as np

from cvzoo.config.randomness import random_generator
from cvzoo.geometry.bbox_iou import bbox_iou
from cvzoo.geometry.coding import decode_bbox, encode_bbox
from cvzoo.typing.aliases import ArrayLike


def bbox2loc(src_bbox: ArrayLike, dst_bbox: ArrayLike) -> np.ndarray:
    """(R, 4) offsets dy dx dh dw from each of src_bbox (R, 4) to its row of dst_bbox (R, 4).

    Raises ShapeError if the shapes do not match. See `encode_bbox`.
    """
    return encode_bbox(dst_bbox, src_bbox)


def loc2bbox(src_bbox: ArrayLike, loc: ArrayLike) -> np.ndarray:
    """(R, 4) boxes from src_bbox (R, 4) and offsets loc (R, 4).

    Raises ShapeError if the shapes do not match. See `decode_bbox`, which limits dh and dw to log(1000 / 16).
    """
    return decode_bbox(loc, src_bbox)


@dataclasses.dataclass(frozen=True)
class AnchorTargetCreator:
    """Anchor targets: `AnchorTargetCreator()(bbox, anchor, img_size)` returns (S, 4) float32, (S,) int32.

    n_sample: number of anchors sampled for training
    pos_iou_thresh: an anchor is positive if its highest IoU is at least this, or if it is an object's best anchor
    neg_iou_thresh: an anchor is background if its highest IoU is below this
    pos_ratio: maximum fraction of positive anchors in n_sample

    Source: Ren et al., "Faster R-CNN", 2015, sections 3.1.2 and 3.1.3.
    """

    n_sample: int = 256
    pos_iou_thresh: float = 0.7
    neg_iou_thresh: float = 0.3
    pos_ratio: float = 0.5

    def __call__(
        self, bbox: np.ndarray, anchor: np.ndarray, img_size: tuple[int, int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """(loc, label): label is 1 for an object, 0 for background, -1 for ignored anchors.

        bbox: (R, 4) float32, the image's objects, pixels of the network's input; R may be 0
        anchor: (S, 4); those that extend beyond the image are ignored
        img_size: (H, W)
        """
        height, width = img_size
        loc = np.zeros(anchor.shape, np.float32)
        label = np.full(len(anchor), -1, np.int32)
        inside = np.flatnonzero((anchor[:, :2] >= 0).all(1) & (anchor[:, 2] <= height) & (anchor[:, 3] <= width))
        if not len(inside):
            return loc, label
        own = np.full(len(inside), -1, np.int32)
        if len(bbox):
            iou = bbox_iou(anchor[inside], bbox)
            best = iou.argmax(axis=1)
            highest = iou[np.arange(len(inside)), best]
            own[highest < self.neg_iou_thresh] = 0
            of_object = iou.max(axis=0)
            # after the negatives: an object's best anchors are positive however low their IoU, so that no object is
            # lost
            own[((iou == of_object) & (of_object > 0)).any(axis=1)] = 1
            own[highest >= self.pos_iou_thresh] = 1
            loc[inside] = bbox2loc(anchor[inside], bbox[best])
        else:
            own[:] = 0
        n_pos = int(self.pos_ratio * self.n_sample)
        _forget(own, 1, n_pos)
        # background fills up what positives lack
        _forget(own, 0, self.n_sample - int((own == 1).sum()))
        label[inside] = own
        return loc, label


def _forget(label: np.ndarray, value: int, n: int) -> None:
    """Set all labels with that value except n random ones to -1, ignored."""
    those = np.flatnonzero(label == value)
    if len(those) > n:
        label[random_generator().choice(those, len(those) - n, replace=False)] = -1


Four = tuple[float, float, float, float]


class SampledRegions(NamedTuple):
    """roi: (S, 4); gt_index: (S,), the object of each with the highest IoU; label: (S,) int32, 0 background."""

    roi: np.ndarray
    gt_index: np.ndarray
    label: np.ndarray


@dataclasses.dataclass(frozen=True)
class ProposalTargetCreator:
    """Region targets: `ProposalTargetCreator()(roi, bbox, label)` samples regions, with target offsets and classes.

    n_sample: number of regions; None: all that are positive or background
    pos_ratio: maximum fraction of positive regions
    pos_iou_thresh: a region is assigned to the object with the highest IoU, if that is at least this
    neg_iou_thresh_hi, neg_iou_thresh_lo: a region is background if its highest IoU is in [lo, hi)

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

        roi: (R, 4) float32, pixels of the network's input; the objects' own boxes are appended
        bbox, label: (N, 4) float32, (N,) int32, the image's objects; N may be 0
        loc_normalize_mean, loc_normalize_std: the offsets become (loc - mean) / std
        """
        sampled = self.sample(roi, bbox, label)
        if not len(bbox):
            return sampled.roi, np.zeros(sampled.roi.shape, np.float32), sampled.label
        loc = bbox2loc(sampled.roi, bbox[sampled.gt_index].astype(np.float32))
        loc = (loc - np.asarray(loc_normalize_mean, np.float32)) / np.asarray(loc_normalize_std, np.float32)
        return sampled.roi, loc.astype(np.float32), sampled.label

    def sample(self, roi: np.ndarray, bbox: np.ndarray, label: np.ndarray) -> SampledRegions:
        """The sampled regions, positive ones first."""
        # the objects are regions, too: early in training no proposal overlaps them enough to be positive
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
