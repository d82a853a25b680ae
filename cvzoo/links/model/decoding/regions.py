"""Decoding of a second stage: offsets from proposals per class."""

import dataclasses
import math
from functools import partial
from typing import NamedTuple

import numpy as np

from cvzoo.backends.detection import Scoring
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.interface import State
from cvzoo.backends.transfer import on_host
from cvzoo.links.model.decoding.proposals import Proposals, RegionBatch
from cvzoo.typing.aliases import Array

Four = tuple[float, float, float, float]


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
