"""Region proposals, the boxes of a first stage."""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.detection import Scoring, frame, just_below
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.transfer import beside
from cvzoo.links.model.decoding.anchor_levels import LevelAnchors, level_parts


class Proposals(NamedTuple):
    """bbox: (B, P, 4) float32, pixels of the network's input, best first, zeros after the last; counts: (B,) int32, how
    many each image has."""

    bbox: Any
    counts: Any

    def on_images(self) -> list[np.ndarray]:
        """Of each image (P, 4), for proposals on the host."""
        return [bbox[:count] for bbox, count in zip(self.bbox, self.counts.tolist())]

    def batches(self) -> list["RegionBatch"]:
        """On a GPU one of all images; on the host one of each: what a matrix product gives a row may depend on how many
        rows there are, and a result not on which images came together."""
        if is_device_array(self.bbox):
            return [RegionBatch(slice(0, len(self.bbox)), self, True)]
        parts = enumerate(self.on_images())
        return [RegionBatch(slice(i, i + 1), Proposals(each[None], self.counts[i : i + 1]), False) for i, each in parts]


class RegionBatch(NamedTuple):
    """Proposals of neighbouring images that are outputs at together; is_padded: there may be zeros after them."""

    images: slice
    proposals: Proposals
    is_padded: bool

    @property
    def bbox(self) -> Any:
        """(R, 4): the boxes of all images, as many of each."""
        return self.proposals.bbox.reshape(-1, 4)

    @property
    def image_index(self) -> Any:
        """(R,) int32: which image each box lies in, counted from the batch's first."""
        b, n, _ = self.proposals.bbox.shape
        return image_indices(b, n, self.proposals.bbox)


def image_indices(b: int, n: int, x: Any) -> Any:
    """(b * n,) int32 where x lies: the number of each of b images n times."""
    return beside(np.repeat(np.arange(b, dtype=np.int32), n), x, ("images", b, n))


@dataclasses.dataclass(frozen=True, kw_only=True)
class LevelProposals:
    """Decoding of a region proposal network on a pyramid: offsets from anchors, and a logit for each.

    anchors: of the levels
    n_proposal: at most this many of each level enter NMS, which is within levels, and come out of it in all
    nms_thresh: of two boxes of a level whose IoU is greater, the lower score is dropped
    score_thresh: what scores less is dropped
    min_side: so are boxes with a shorter side, pixels
    """

    anchors: LevelAnchors
    n_proposal: int
    nms_thresh: float
    score_thresh: float
    min_side: float = 1e-3

    def propose(self, loc: Any, conf: Any, input_size: tuple[int, int], frames: Any) -> Proposals:
        """The best boxes of each image.

        loc: (B, A, 4) float32; conf: (B, A) float32, before the sigmoid; all levels one after another
        frames: (B, 11) float32 on their device, see `cvzoo.backends.detection.frame`: where boxes are cut
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
    """(B, 11) float32: boxes stay in pixels of the network's input, cut at `sizes` (H, W)."""
    return np.stack([frame(size, cut=size) for size in sizes])
