"""Region proposals, the outputs of a first stage."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.detection import Scoring, frame, just_below
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.transfer import constant_for
from cvzoo.links.model.decoding.anchor_levels import LevelAnchors, level_parts
from cvzoo.typing.aliases import Array


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
