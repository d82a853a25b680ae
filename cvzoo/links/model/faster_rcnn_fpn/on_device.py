"""Both stages of a detector on a pyramid on a GPU: equally many proposals for each photo, some may be zeros."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.backends.cuda.boxes import Scoring, decode_selected, frame, gather_boxes, softmax_scores
from cvzoo.backends.cuda.nms import nms_batch
from cvzoo.backends.cuda.selection import Candidates, Selected, select_best, sort_candidates
from cvzoo.backends.cuda.staging import upload
from cvzoo.links.model.finished_boxes import MOST_CANDIDATES, as_floats, just_below, level_parts, suppressed_result

_MIN_PROPOSAL = 1e-3
_MIN_SIDE = 1e-2


class DeviceFrames(NamedTuple):
    """(B, 11) float32 each, see `backends.cuda.boxes.frame`.

    seen: boxes are cut at what the network saw of a photo, and stay in its pixels
    photo: then they become the photo's
    """

    seen: Any
    photo: Any


def device_frames(seens: Sequence[tuple[int, int]], sizes: Sequence[tuple[int, int]]) -> DeviceFrames:
    """seens, sizes: (H, W) of what the network saw of each photo, and of the photo."""
    seen = [frame(each, cut=each) for each in seens]
    photo = [frame(size, cut=each, factor=np.float32(size) / np.float32(each)) for size, each in zip(sizes, seens)]
    return DeviceFrames(*upload([np.stack(seen), np.stack(photo)]))


class Proposals(NamedTuple):
    """bbox: (B, P, 4) float32, pixels of the network's input, best first, zeros after the last; counts: (B,) int32."""

    bbox: Any
    counts: Any


def propose_on_device(
    loc: Any,
    conf: Any,
    anchor: Any,
    counts: Sequence[int],
    *,
    frames: DeviceFrames,
    n_proposal: int,
    nms_thresh: float,
    score_thresh: float,
) -> Proposals:
    """As `propose`, of all photos at once.

    loc: (B, A, 4) float32, conf: (B, A) float32, anchor: (A, 4) float32, all levels one after another
    counts: how many of the A belong to each level
    """
    selected = select_best(as_floats(conf), level_parts(counts, 1), limit=n_proposal, above=-np.inf)
    candidates = decode_selected(
        selected,
        as_floats(loc),
        anchor,
        frames=frames.seen,
        n_class=1,
        scoring=Scoring.SIGMOID,
        above=just_below(score_thresh),
        min_side=_MIN_PROPOSAL,
        by_part=True,
    )
    boxes = sort_candidates(candidates._replace(pairs=None))
    kept = nms_batch(boxes, iou_thresh=nms_thresh, limit=n_proposal, most=boxes.score.shape[1])
    return Proposals(gather_boxes(boxes, kept), kept.counts)


class DeviceRegions(NamedTuple):
    """What the second stage says of the proposals.

    loc: (B, P, 4 * L) float32; conf: (B, P, L + 1) float32, before the softmax
    selected, candidates: what scores, in pixels of the frames that were asked for
    """

    proposals: Proposals
    loc: Any
    conf: Any
    selected: Selected
    candidates: Candidates

    def suppressed(self, frames: Any, *, nms_thresh: float, limit: int | None, clip: bool) -> Any:
        """See `suppressed_result`."""
        return suppressed_result(
            *(self.selected, self.candidates, frames),
            nms_thresh=nms_thresh,
            limit=limit,
            clip=clip,
            most=MOST_CANDIDATES,
            by_pair=True,
        )


def decode_regions_on_device(
    proposals: Proposals,
    loc: Any,
    conf: Any,
    *,
    loc_std: Sequence[float],
    score_thresh: float,
    frames: Any,
    min_side: float = _MIN_SIDE,
) -> DeviceRegions:
    """As `decode_regions`, of all photos at once: loc (B, P, 4 * L), conf (B, P, L + 1)."""
    loc, conf = as_floats(loc), as_floats(conf)
    b, n_row, n_class = conf.shape
    n_class -= 1
    score = softmax_scores(conf, proposals.counts).reshape(b, -1)
    selected = select_best(score, [(0, n_row * n_class)], limit=MOST_CANDIDATES, above=score_thresh)
    candidates = decode_selected(
        selected,
        loc,
        proposals.bbox,
        frames=frames,
        n_class=n_class,
        std=loc_std,
        above=score_thresh,
        min_side=min_side,
        codes_of_class=True,
    )
    return DeviceRegions(proposals, loc, conf, selected, candidates)
