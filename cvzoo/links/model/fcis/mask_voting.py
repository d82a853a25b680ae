"""Mask voting: masks of overlapping regions are averaged."""

from typing import NamedTuple

import numpy as np

from cvzoo.functions.array.resize_images import resize_images
from cvzoo.geometry.bbox_iou import bbox_iou
from cvzoo.geometry.nms import nms

# Limit of cached masks, pixels of one byte
_KEPT = 1 << 26


class VotedMasks(NamedTuple):
    """mask_prob: (N, S, S) float32 in its box; bbox: (N, 4) float32; label: (N,) int32; score: (N,) float32."""

    mask_prob: np.ndarray
    bbox: np.ndarray
    label: np.ndarray
    score: np.ndarray


def resize_map(plane: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """(h, w) float32: the plane resized bilinearly with aligned corners, without antialiasing."""
    return resize_images(plane[None, None].astype(np.float32), size, align_corners=False).array[0, 0]


def rounded(bbox: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """(R, 4) int: boxes rounded to whole pixels, clipped to the image of `size` (H, W)."""
    height, width = size
    return np.clip(np.round(bbox), 0, (height, width, height, width)).astype(int)


def mask_voting(
    roi_mask_prob: np.ndarray,
    bbox: np.ndarray,
    roi_cls_prob: np.ndarray,
    size: tuple[int, int],
    score_thresh: float,
    nms_thresh: float,
    mask_merge_thresh: float = 0.5,
    binary_thresh: float = 0.4,
    limit: int | None = 100,
) -> VotedMasks:
    """The boxes left after NMS, each with the weighted mean of the masks of overlapping regions, class by class.

    roi_mask_prob: (R, S, S) float32, probability that each cell of a region is inside of the mask
    bbox: (R, 4) float32, the regions, pixels of the image
    roi_cls_prob: (R, L + 1) float32, the background first
    size: (H, W) of the image
    score_thresh, nms_thresh, limit: boxes with at most this score, overlapping boxes of a class, and all but the best
        are dropped
    mask_merge_thresh: regions whose IoU with the box is at least this vote, weighted by their probability of the class
    binary_thresh: threshold of the regions' masks, and of the votes

    Source: Dai et al., "Instance-aware Semantic Segmentation via Multi-task Network Cascades", 2016; as in FCIS.
    """
    pairs_by_class = []
    nonempty = (bbox[:, 2:] > bbox[:, :2]).all(axis=1)  # an empty box has an IoU of 0 even with itself
    for label in range(1, roi_cls_prob.shape[1]):
        score = roi_cls_prob[:, label]
        above = np.flatnonzero((score > score_thresh) & nonempty)
        if len(above):
            above = above[nms(bbox[above], score[above], iou_thresh=nms_thresh)]
            pairs_by_class.append(np.column_stack([above, np.full(len(above), label)]))
    pairs = np.concatenate(pairs_by_class) if pairs_by_class else np.zeros((0, 2), int)
    score = roi_cls_prob[pairs[:, 0], pairs[:, 1]]
    best = np.argsort(-score, kind="stable")[:limit]
    side = roi_mask_prob.shape[1:]
    windows = _Windows(roi_mask_prob, rounded(bbox, size), binary_thresh)
    voted = []
    for place, label in pairs[np.sort(best)].tolist():
        near = np.flatnonzero(bbox_iou(bbox, bbox[place : place + 1])[:, 0] >= mask_merge_thresh)
        weight = roi_cls_prob[near, label]
        joined = windows.joined(near, weight / weight.sum(), size)
        if joined is not None:
            mask, box = joined
            prob = np.clip(resize_map(mask, side), 0, 1)
            voted.append((prob, box, label - 1, roi_cls_prob[place, label]))
    if not voted:
        return VotedMasks(np.zeros((0, *side), "f"), np.zeros((0, 4), "f"), np.zeros(0, "i"), np.zeros(0, "f"))
    masks, boxes, labels, scores = zip(*voted)
    return VotedMasks(np.stack(masks), np.array(boxes, "f"), np.array(labels, "i"), np.array(scores, "f"))


class _Windows:
    """The regions' masks in pixels of the image, computed lazily, and cached up to a limit."""

    def __init__(self, prob: np.ndarray, pixels: np.ndarray, thresh: float):
        self.prob, self.pixels, self.thresh = prob, pixels, thresh
        self.made: dict[int, np.ndarray] = {}
        self.pairs_by_class = 0

    def joined(
        self, places: np.ndarray, weight: np.ndarray, size: tuple[int, int]
    ) -> tuple[np.ndarray, tuple[int, int, int, int]] | None:
        """The thresholded weighted sum of the masks, and the box around it; None if it is empty."""
        pixels = self.pixels[places]
        y0, x0 = pixels[:, :2].min(axis=0)
        y1, x1 = pixels[:, 2:].max(axis=0)
        votes = np.zeros((max(y1 - y0, 0), max(x1 - x0, 0)), np.float32)
        for place, (top, left, bottom, right), w in zip(places.tolist(), pixels.tolist(), weight.tolist()):
            if bottom > top and right > left:
                votes[top - y0 : bottom - y0, left - x0 : right - x0] += self._mask(place) * np.float32(w)
        inside = votes >= self.thresh
        rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
        if not len(rows):
            return None
        top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
        return votes[top:bottom, left:right], (top + y0, left + x0, bottom + y0, right + x0)

    def _mask(self, place: int) -> np.ndarray:
        mask = self.made.get(place)
        if mask is None:
            top, left, bottom, right = self.pixels[place].tolist()
            prob = resize_map(self.prob[place], (bottom - top, right - left))
            mask = self.made[place] = prob >= self.thresh
            self.pairs_by_class += mask.size
            if self.pairs_by_class > _KEPT:  # hundreds of regions as large as the image do not fit into memory
                self.made, self.pairs_by_class = {place: mask}, mask.size
        return mask
