"""Sampling of anchors and regions for training."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.config.randomness import random_generator
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.loss.focal_loss import BACKGROUND
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.bbox_area import bbox_area
from cvzoo.geometry.bbox_iou import bbox_intersection, bbox_iou
from cvzoo.links.model.retinanet.targets import AnchorRows, match_anchors


class Truth(NamedTuple):
    """The objects of an image.

    bbox: (R, 4) float32; label: (R,) int32; ignored: (R,) bool, neither targets nor background
    """

    bbox: np.ndarray
    label: np.ndarray
    ignored: np.ndarray


class SampledAnchors(NamedTuple):
    """anchor_index: (N,) int64, in an image; positive: (N,) bool; bbox: (N, 4) float32, of the positive ones."""

    anchor_index: np.ndarray
    positive: np.ndarray
    bbox: np.ndarray


class SampledRegions(NamedTuple):
    """bbox: (N, 4) float32; label: (N,) int32, 0 background, else 1 + class; match: (N,) int64, objects, -1 without."""

    bbox: np.ndarray
    label: np.ndarray
    match: np.ndarray


def truths(
    bboxes: Sequence[np.ndarray], labels: Sequence[np.ndarray], ignored: Sequence[np.ndarray] | None
) -> list[Truth]:
    """One per image. Raises ShapeError if boxes, labels and flags differ in number."""
    ignored = [np.zeros(len(bbox), bool) for bbox in bboxes] if ignored is None else ignored
    if not len(bboxes) == len(labels) == len(ignored):
        raise ShapeError("bboxes, labels and ignored need one element per image", got=(len(bboxes), len(labels)))
    per_image = []
    for i, (bbox, label, skip) in enumerate(zip(bboxes, labels, ignored)):
        bbox = as_bbox(bbox).astype(np.float32, copy=False)
        if not len(bbox) == len(label) == len(skip):
            raise ShapeError(f"image {i}: boxes and labels differ in number", got=(len(bbox), len(label), len(skip)))
        # boxes without area are dropped
        skip = np.asarray(skip, bool) | ~(bbox[:, 2:] > bbox[:, :2]).all(axis=1)
        per_image.append(Truth(bbox, np.asarray(label, np.int32), skip))
    return per_image


def sample_anchors(
    rows: AnchorRows, truth: Truth, *, n: int = 256, share: float = 0.5, positive: float = 0.7, negative: float = 0.3
) -> SampledAnchors:
    """At most n anchors of an image, sampled uniformly, with at most a fraction `share` of positive ones.

    positive, negative: as in `match_anchors`; the best anchor of each object is positive, too
    Source: Ren et al., 2015, section 3.1.2. Anchors that cross the image's edge are included, as in later work.
    """
    check_share(n, share)
    own = np.flatnonzero(~truth.ignored)
    match = match_anchors(rows, truth.bbox[own], positive=positive, negative=negative)
    background = match == BACKGROUND
    if truth.ignored.any():
        background &= ~rows.covered(truth.bbox[truth.ignored], 0.5)
    chosen = _drawn(np.flatnonzero(match >= 0), int(n * share))
    others = _drawn(np.flatnonzero(background), n - len(chosen))
    index = np.concatenate([chosen, others])
    flags = np.arange(len(index)) < len(chosen)
    return SampledAnchors(index, flags, truth.bbox[own[match[chosen]]])


def sample_regions(
    proposals: np.ndarray, truth: Truth, *, n: int = 512, share: float = 0.25, thresh: float = 0.5
) -> SampledRegions:
    """At most n regions of an image, sampled from its proposals and objects, with at most a fraction positive.

    proposals: (P, 4) float32
    thresh: a region belongs to the object that it overlaps most if their IoU is at least this; else it is background
    Source: Girshick, Fast R-CNN, 2015, section 2.3, with background of any overlap below the threshold.
    """
    check_share(n, share)
    own = np.flatnonzero(~truth.ignored)
    bbox = np.concatenate([truth.bbox[own], proposals]).astype(np.float32, copy=False)
    match, best = np.zeros(len(bbox), np.int64), np.zeros(len(bbox), np.float32)
    if len(own):
        iou = bbox_iou(bbox, truth.bbox[own])
        match, best = iou.argmax(axis=1), iou.max(axis=1)
    background = best < thresh
    if truth.ignored.any() and len(bbox):
        inside = bbox_intersection(bbox, truth.bbox[truth.ignored]).max(axis=1)
        background &= inside < 0.5 * bbox_area(bbox)
    chosen = _drawn(np.flatnonzero(best >= thresh), int(n * share))
    others = _drawn(np.flatnonzero(background), n - len(chosen))
    index = np.concatenate([chosen, others])
    objects = np.full(len(index), -1, np.int64)
    objects[: len(chosen)] = own[match[chosen]]
    label = np.zeros(len(index), np.int32)
    label[: len(chosen)] = 1 + truth.label[objects[: len(chosen)]]
    return SampledRegions(bbox[index], label, objects)


def check_share(n: int, share: float) -> None:
    """Raises ValueRangeError unless n is positive and share within 0 and 1."""
    if n < 1 or not 0 <= share <= 1:
        raise ValueRangeError("a sample needs a positive number and a fraction within 0 and 1", got=(n, share))


def _drawn(index: np.ndarray, n: int) -> np.ndarray:
    """At most n of them at random, in their order."""
    if len(index) <= n:
        return index
    return np.sort(random_generator().choice(index, n, replace=False))
