"""What is left of photos after matching: the state that workers send one another."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError


@dataclasses.dataclass(frozen=True, eq=False)
class COCOMatches:
    """Detections with their verdicts, for A ranges of area and T thresholds of overlap.

    img_ids: (I,) int64, the photos that were seen, rising
    cat_ids: (K,) int64, rising, the classes; [-1] if classes do not count
    n_kept: (A, K) int64, objects that are to be found
    cat, image_id, rank, score: (N,) int32, int64, int32, float64: class (its place), photo and place in its group
    aside: (A, N) bool: not counted unless it matches
    candidate: (C,) int64, rising: detections that overlap any object enough; all others match nothing
    verdict: (T, A, C) int8: 0 unmatched, 1 matches an object that is to be found, 2 matches another and is not counted
    """

    img_ids: np.ndarray
    cat_ids: np.ndarray
    n_kept: np.ndarray
    cat: np.ndarray
    image_id: np.ndarray
    rank: np.ndarray
    score: np.ndarray
    aside: np.ndarray
    candidate: np.ndarray
    verdict: np.ndarray

    @property
    def nbytes(self) -> int:
        """The size of the state in bytes."""
        return sum(array.nbytes for array in self._columns())

    def _columns(self):
        return (
            self.img_ids,
            self.cat_ids,
            self.n_kept,
            self.cat,
            self.image_id,
            self.rank,
            self.score,
            self.aside,
            self.candidate,
            self.verdict,
        )


def no_matches(n_iou: int, n_area: int, cat_ids: np.ndarray) -> COCOMatches:
    """The state before the first photo."""
    return COCOMatches(
        img_ids=np.zeros(0, np.int64),
        cat_ids=cat_ids,
        n_kept=np.zeros((n_area, cat_ids.size), np.int64),
        cat=np.zeros(0, np.int32),
        image_id=np.zeros(0, np.int64),
        rank=np.zeros(0, np.int32),
        score=np.zeros(0),
        aside=np.zeros((n_area, 0), bool),
        candidate=np.zeros(0, np.int64),
        verdict=np.zeros((n_iou, n_area, 0), np.int8),
    )


def join_matches(parts: Sequence[COCOMatches]) -> COCOMatches:
    """One state from one or more; which parts they are cut into, and in which order, makes no difference to results.

    Raises ValueRangeError if a photo is in two parts: its detections have been ranked apart then.
    """
    if len(parts) == 1:
        return parts[0]
    img_ids = np.sort(np.concatenate([part.img_ids for part in parts]))
    twice = np.flatnonzero(img_ids[1:] == img_ids[:-1])
    if twice.size:
        raise ValueRangeError(
            f"photo {img_ids[twice[0]]} was evaluated twice ({twice.size} photos were)",
            hint="give img_ids that differ between workers, and each photo once",
        )
    cat_ids = np.unique(np.concatenate([part.cat_ids for part in parts]))
    places = [np.searchsorted(cat_ids, part.cat_ids) for part in parts]
    n_kept = np.zeros((len(parts[0].n_kept), cat_ids.size), np.int64)
    for part, place in zip(parts, places):
        n_kept[:, place] += part.n_kept
    first = np.cumsum([0] + [part.cat.size for part in parts])
    return COCOMatches(
        img_ids=img_ids,
        cat_ids=cat_ids,
        n_kept=n_kept,
        cat=np.concatenate([place.astype(np.int32)[part.cat] for part, place in zip(parts, places)]),
        image_id=np.concatenate([part.image_id for part in parts]),
        rank=np.concatenate([part.rank for part in parts]),
        score=np.concatenate([part.score for part in parts]),
        aside=np.concatenate([part.aside for part in parts], axis=1),
        candidate=np.concatenate([part.candidate + start for part, start in zip(parts, first)]),
        verdict=np.concatenate([part.verdict for part in parts], axis=2),
    )
