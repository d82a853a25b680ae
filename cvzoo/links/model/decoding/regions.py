"""Decoding of a two-stage detector: region proposals from anchors, and boxes from these."""

import dataclasses
import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.detection import Scoring, frame, just_below
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.interface import State
from cvzoo.backends.transfer import constant_for, on_host
from cvzoo.links.model.decoding.anchor_levels import LevelAnchors, level_parts
from cvzoo.typing.aliases import Array

Four = tuple[float, float, float, float]


class Proposals(NamedTuple):
    """bbox: (B, P, 4) float32, pixels of the network's input, best first, padded with zeros; counts: (B,) int32, the
    number of each image."""

    bbox: Array
    counts: Array

    def on_images(self) -> list[np.ndarray]:
        """For each image (P, 4), for proposals on the host."""
        return [bbox[:count] for bbox, count in zip(self.bbox, self.counts.tolist())]

    def batches(self) -> list["RegionBatch"]:
        """On a GPU one batch of all images; on the host one per image, for batch invariance: a row of a matrix product
        may depend on the number of rows."""
        if is_device_array(self.bbox):
            return [RegionBatch(slice(0, len(self.bbox)), self, True)]
        parts = enumerate(self.on_images())
        return [RegionBatch(slice(i, i + 1), Proposals(each[None], self.counts[i : i + 1]), False) for i, each in parts]


class RegionBatch(NamedTuple):
    """Proposals of consecutive images that the second stage processes together; is_padded: zeros may follow them."""

    images: slice
    proposals: Proposals
    is_padded: bool

    @property
    def bbox(self) -> Array:
        """(R, 4): the boxes of all images, the same number of each."""
        return self.proposals.bbox.reshape(-1, 4)

    @property
    def image_index(self) -> Array:
        """(R,) int32: index of each box's image in the batch."""
        b, n, _ = self.proposals.bbox.shape
        return image_indices(b, n, self.proposals.bbox)


def image_indices(b: int, n: int, x: Array) -> Array:
    """(b * n,) int32 on x's device: 0 .. b - 1, each n times."""
    return constant_for(np.repeat(np.arange(b, dtype=np.int32), n), x, ("images", b, n))


@dataclasses.dataclass(frozen=True, kw_only=True)
class LevelProposals:
    """Decoding of a region proposal network on a pyramid: offsets from anchors, and a logit for each.

    anchors: of the levels
    n_proposal: maximum number of candidates of each level for NMS (within levels), and of proposals of an image
    nms_thresh: IoU threshold of NMS
    score_thresh: proposals with lower scores are dropped
    min_side: proposals with a shorter side are dropped, pixels
    """

    anchors: LevelAnchors
    n_proposal: int
    nms_thresh: float
    score_thresh: float
    min_side: float = 1e-3

    def propose(self, loc: Array, conf: Array, input_size: tuple[int, int], frames: Array) -> Proposals:
        """The best boxes of each image.

        loc: (B, A, 4) float32; conf: (B, A) float32, logits; of all levels, concatenated
        frames: (B, 11) float32 on their device, see `cvzoo.backends.detection.frame`: how boxes are clipped
        """
        backend, counts = backend_of(conf), self.anchors.counts(input_size)
        selected = backend.select_best(
            conf[:, :, None],
            level_parts(counts, 1),
            n_class=1,
            limit=self.n_proposal,
            above=just_below(self.score_thresh),
            scoring=Scoring.SIGMOID,
        )
        anchors = backend.constant((self.anchors, tuple(input_size)), lambda: self.anchors.boxes(input_size))
        candidates = backend.decode_boxes(selected, loc, anchors, frames=frames, min_side=self.min_side, by_part=True)
        n_best = sum(min(count, self.n_proposal) for count in counts)
        kept = backend.nms(candidates, iou_thresh=self.nms_thresh, limit=self.n_proposal, n_best=n_best)
        return Proposals(*backend.kept_boxes(kept))


def cut_frames(sizes: Sequence[tuple[int, int]]) -> np.ndarray:
    """(B, 11) float32: boxes stay in pixels of the network's input, clipped to `sizes` (H, W)."""
    return np.stack([frame(size, cut=size) for size in sizes])


class HeadOutputs(NamedTuple):
    """Outputs of a second stage for the proposals of a batch.

    loc: (B, P, L, 4) or (B, P, 4 * L) float32; conf: (B, P, 1 + L) float32, logits, background first
    """

    batch: RegionBatch
    loc: Array
    conf: Array

    def image_on_host(self, i: int) -> "HeadOutputs":
        """The outputs for image i of the batch, on the host."""
        arrays = (*self.batch.proposals, self.loc, self.conf)
        bbox, counts, *others = on_host([array[i : i + 1] for array in arrays])
        bbox, loc, conf = (array[:, : counts[0]] for array in (bbox, *others))
        return HeadOutputs(RegionBatch(slice(i, i + 1), Proposals(bbox, counts), False), loc, conf)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Regions:
    """Faster R-CNN and relatives.

    n_class: number of classes, without the background
    std, mean: outputs times std plus mean are the offsets dy dx dh dw
    min_side: boxes with a shorter side after clipping are dropped
    """

    n_class: int
    std: Four = (1.0, 1.0, 1.0, 1.0)
    mean: Four = (0.0, 0.0, 0.0, 0.0)
    min_side: float = -math.inf

    def candidates(
        self,
        proposals: Proposals,
        loc: Array,
        conf: Array,
        *,
        frames: Array,
        score_thresh: float,
        scoring: Scoring = Scoring.SOFTMAX,
    ) -> State:
        """The boxes with scores above `score_thresh`, for `nms` of the backend of their device.

        loc: (B, P, L, 4) or (B, P, 4 * L) float32
        conf: (B, P, 1 + L) float32, logits, background first; or for PLAIN (B, P, L), scores
        frames: (B, 11) float32 of `cvzoo.backends.detection.frame`, for boxes in the proposals' pixels
        """
        backend, n = backend_of(conf), self.n_class
        b, n_row = conf.shape[:2]
        selected = backend.select_best(
            conf,
            [(0, n_row * n)],
            n_class=n,
            limit=None,
            above=score_thresh,
            scoring=scoring,
            counts=proposals.counts,
        )
        code, std = loc.reshape(b, n_row, n, 4), self.std
        if any(self.mean):  # kernels have no parameter for it
            scale, mean = (backend.constant(four, partial(np.asarray, four, np.float32)) for four in (std, self.mean))
            code, std = code * scale + mean, (1.0, 1.0, 1.0, 1.0)
        return backend.decode_boxes(selected, code, proposals.bbox, frames=frames, std=std, min_side=self.min_side)
