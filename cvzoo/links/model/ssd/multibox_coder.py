"""From boxes to what SSD's heads should say, and from what they say to boxes."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.backends.cuda.boxes import decode_selected, softmax_scores
from cvzoo.backends.cuda.constants import constants
from cvzoo.backends.cuda.selection import Candidates, Selected, select_best
from cvzoo.backends.in_threads import in_threads
from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.bbox_area import bbox_area
from cvzoo.geometry.bbox_iou import bbox_intersection, bbox_iou
from cvzoo.geometry.best_pairs import best_pairs
from cvzoo.geometry.coding import decode_bbox, encode_bbox
from cvzoo.links.model.finished_boxes import MOST_CANDIDATES, as_floats
from cvzoo.links.model.ssd.default_boxes import default_boxes

BACKGROUND = 0
IGNORED = -1
_STRIP = 1024  # boxes that a thread looks at at a time


class MultiboxCoder:
    """`encode` and `decode` against default boxes.

    grids, aspect_ratios, steps, sizes, largest: as in `default_boxes`
    variance: of the offsets of centres and of the logarithms of sides

    default: (A, 4) float32, the default boxes, pixels of the network's input
    Source: Liu et al., SSD: Single Shot MultiBox Detector, ECCV 2016, section 2.2.
    """

    def __init__(
        self,
        grids: Sequence[int],
        aspect_ratios: Sequence[Sequence[float]],
        steps: Sequence[float],
        sizes: Sequence[float],
        variance: tuple[float, float] = (0.1, 0.2),
        *,
        largest: float | None = None,
    ):
        self.default = default_boxes(grids, aspect_ratios, steps, sizes, largest=largest)
        self.variance = variance
        self._std = (variance[0], variance[0], variance[1], variance[1])
        # NumPy keeps no sum of them: the areas are asked for at every photo in training
        self._area = bbox_area(self.default)

    def encode(
        self,
        bbox: np.ndarray,
        label: np.ndarray,
        ignored: np.ndarray | None = None,
        *,
        iou_thresh: float = 0.5,
        cover: float = 0.5,
    ) -> tuple[np.ndarray, np.ndarray]:
        """mb_loc (A, 4) float32, zeros where nothing is; mb_label (A,) int32, 1 + label, 0 background, -1 ignored.

        bbox: (R, 4) float32, pixels of the network's input; label: (R,) int32
        ignored: (R,) bool, objects not to be learned: a default box of which a share of `cover` lies in one, and that
            has no other object, is ignored
        iou_thresh: a default box has the object of highest IoU if that is at least this
        Raises ShapeError if they do not belong together.

        First every object takes the default box of highest IoU, the best pair of all first, and each box once.
        """
        bbox, label = as_bbox(bbox).astype(np.float32, copy=False), np.asarray(label)
        ignored = np.zeros(len(bbox), bool) if ignored is None else np.asarray(ignored, bool)
        if not len(bbox) == len(label) == len(ignored):
            raise ShapeError("MultiboxCoder: boxes and labels differ in number", got=(len(bbox), len(label)))
        mb_loc = np.zeros((len(self.default), 4), np.float32)
        mb_label = np.full(len(self.default), BACKGROUND, np.int32)
        for region in bbox[ignored]:
            inside = bbox_intersection(self.default, region[None])[:, 0]
            mb_label[(inside >= cover * self._area) & (inside > 0)] = IGNORED
        bbox, label = bbox[~ignored], label[~ignored]
        if len(bbox):
            match = self._match(bbox, iou_thresh)
            found = np.flatnonzero(match >= 0)
            mb_loc[found] = encode_bbox(bbox[match[found]], self.default[found], std=self._std)
            mb_label[found] = label[match[found]] + 1
        return mb_loc, mb_label

    def _match(self, bbox: np.ndarray, iou_thresh: float) -> np.ndarray:
        """(A,) row of bbox, -1 for none."""
        iou = bbox_iou(self.default, bbox)
        best = iou.argmax(axis=1)
        match = np.where(iou.max(axis=1) >= iou_thresh, best, -1)
        free = iou.copy()
        for _ in range(len(bbox)):
            i, j = divmod(int(free.argmax()), len(bbox))
            if free[i, j] <= 1e-6:
                break
            match[i] = j
            free[i] = 0
            free[:, j] = 0
        return match

    def decode(
        self, mb_loc: np.ndarray, mb_conf: np.ndarray, *, score_thresh: float, n_candidate: int | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """bbox (R, 4), label (R,) int32, score (R,): what scores above `score_thresh`, before suppression.

        mb_loc: (A, 4) float32, dy dx dh dw
        mb_conf: (A, 1 + L) float32, scores before the softmax, background first
        n_candidate: of a class, only so many of the best; None: all
        A box is given for every class that scores; boxes may stick out of the photo.
        """
        parts: dict[int, tuple[np.ndarray, np.ndarray]] = {}

        def work(start: int) -> None:
            conf = mb_conf[start : start + _STRIP]
            # no class can be likelier than its duel with the background says: most rows need no exponential at all
            hopeful = np.flatnonzero(conf[:, 1:].max(axis=1) - conf[:, 0] > _logit(score_thresh))
            logit = conf[hopeful]
            prob = np.exp(logit - logit.max(axis=1, keepdims=True))
            prob /= prob.sum(axis=1, keepdims=True)
            parts[start] = hopeful + start, prob

        in_threads(range(0, max(len(mb_conf), 1), _STRIP), work)
        hopeful, prob = (np.concatenate(each) for each in zip(*(parts[start] for start in sorted(parts))))
        row, label = best_of_each_class(prob[:, 1:], score_thresh, n_candidate)
        score = prob[row, label + 1]
        row = hopeful[row]
        return decode_bbox(mb_loc[row], self.default[row], std=self._std), label.astype(np.int32), score

    def decode_on_device(
        self,
        mb_loc: Any,
        mb_conf: Any,
        *,
        score_thresh: float,
        n_candidate: int | None,
        frames: Any,
        min_side: float,
    ) -> tuple[Selected, Candidates]:
        """As `decode`, of all photos at once: mb_loc (B, A, 4) and mb_conf (B, A, 1 + L), on a GPU as is all else.

        n_candidate: None for as many as are looked at
        frames: (B, 11) float32, see `backends.cuda.boxes.frame`
        min_side: what is narrower, once cut, is dropped
        """
        b, n_row, n_class = mb_conf.shape
        n_class -= 1
        score = softmax_scores(as_floats(mb_conf)).reshape(b, -1)
        if n_candidate is None:
            selected = select_best(score, [(0, n_row * n_class)], limit=MOST_CANDIDATES, above=score_thresh)
        else:
            parts = [(label, n_row) for label in range(n_class)]
            selected = select_best(score, parts, limit=n_candidate, above=score_thresh, step=n_class)
        anchor = constants.get(("SSD", self.default.tobytes()), lambda: self.default)
        candidates = decode_selected(
            selected, as_floats(mb_loc), anchor, frames=frames, n_class=n_class, std=self._std, min_side=min_side
        )
        return selected, candidates


def best_of_each_class(score: np.ndarray, above: float, n: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows and classes of what scores above a bound, of every class the n best, of equals the first; ascending by row.

    score: (R, L); n: None for all
    """
    if n is None or (score > above).sum(axis=0).max(initial=0) <= n:
        return np.nonzero(score > above)
    n_class = score.shape[1]
    pairs: list[np.ndarray] = [np.zeros(0, np.int64)] * n_class

    def work(label: int) -> None:
        column = np.ascontiguousarray(score[:, label])
        pairs[label] = np.sort(best_pairs(column[:, None], n, above=above)) * n_class + label

    in_threads(range(n_class), work)
    return np.divmod(np.sort(np.concatenate(pairs)), n_class)


def _logit(score: float) -> float:
    """A little less than what the sigmoid makes `score` of."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return math.log(score / (1 - score)) - 1e-4
