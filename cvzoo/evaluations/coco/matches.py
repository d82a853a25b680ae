"""Matched detections: the state of an evaluation, which workers send to each other."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.typing.aliases import Array


@dataclasses.dataclass(frozen=True, eq=False)
class COCOMatches:
    """Detections with the outcome of matching, for A area ranges and T IoU thresholds.

    img_ids: (I,) int64, the evaluated images, ascending
    cat_ids: (K,) int64, ascending, the classes; [-1] if use_cats is false
    n_kept: (A, K) int64, number of positives (objects that are not ignored)
    cat, image_id, rank, score: (N,) int32, int64, int32, float64: index of the class, image and rank in its group
    aside: (A, N) bool, ignored if unmatched, since the area is out of range
    candidate: (C,) int64, ascending, detections with sufficient IoU with any object; all others are unmatched
    verdict: (T, A, C) int8: 0 unmatched, 1 matches a positive, 2 matches an ignored object and does not count
    """

    img_ids: Array
    cat_ids: Array
    n_kept: Array
    cat: Array
    image_id: Array
    rank: Array
    score: Array
    aside: Array
    candidate: Array
    verdict: Array

    @property
    def nbytes(self) -> int:
        """The size of the state in bytes."""
        return sum(array.nbytes for array in self._columns())

    def _columns(self) -> tuple[Array, ...]:
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
    """The empty state, before the first image."""
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
    """The merged state; the result does not depend on the partition of the images, or on the order of the parts.

    Raises ValueRangeError if an image is in two parts, since its detections were ranked separately.
    """
    if len(parts) == 1:
        return parts[0]
    img_ids = np.sort(np.concatenate([part.img_ids for part in parts]))
    twice = np.flatnonzero(img_ids[1:] == img_ids[:-1])
    if twice.size:
        raise ValueRangeError(
            f"image {img_ids[twice[0]]} was evaluated twice ({twice.size} images were)",
            hint="pass unique img_ids, each image to one worker only",
        )
    cat_ids = np.unique(np.concatenate([part.cat_ids for part in parts]))
    # parts may have different classes, such as those of the images that a worker had
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
