"""Precision, recall and scores at the recall thresholds, from matched detections."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.evaluations.coco.lookup import falling_ranks, run_starts, stable_order
from cvzoo.evaluations.coco.matches import COCOMatches
from cvzoo.typing.aliases import Array

# pycocotools adds this to the number of detections before dividing: the precision of the first hit is 1 - 2.2e-16
_SPACING = np.spacing(1.0)


def accumulate(matches: COCOMatches, *, rec_thrs: Array, max_dets: Sequence[int]) -> tuple[Array, Array, Array]:
    """precision (T, R, K, A, M), recall (T, K, A, M) and scores (T, R, K, A, M), float64.

    rec_thrs: (R,) float64, ascending; max_dets: M integers
    -1 for a class without positives; 0 where there are positives, and no detection reaches the recall.

    Only true positives (hits) can raise the precision, so the curve is evaluated at hits only, and the interpolated
    precision at a recall threshold is a maximum over runs of hits. The hit at which a recall is reached follows from
    the number of positives of the class, by the same comparison of floats that a search in the curve would make.
    """
    n_iou, n_area, _ = matches.verdict.shape
    n_cat, n_rec, n_max = matches.n_kept.shape[1], rec_thrs.size, len(max_dets)
    precision = np.full((n_area, n_max, n_iou, n_cat, n_rec), -1.0)
    scores = np.full((n_area, n_max, n_iou, n_cat, n_rec), -1.0)
    recall = np.full((n_area, n_max, n_iou, n_cat), -1.0)
    ranking = _Ranking(matches)
    needed = [hits_needed(n_kept, rec_thrs) for n_kept in matches.n_kept]
    for m, max_det in enumerate(max_dets):
        allowed = ranking.allowed(max_det)
        for a, n_kept in enumerate(matches.n_kept):
            live = n_kept > 0
            curve = ranking.curve(a, allowed, needed[a], rec_thrs)
            precision[a, m][:, live] = curve[0][:, live]
            scores[a, m][:, live] = curve[1][:, live]
            recall[a, m][:, live] = curve[2][:, live] / n_kept[live]
    return precision.transpose(2, 4, 3, 0, 1), recall.transpose(2, 3, 0, 1), scores.transpose(2, 4, 3, 0, 1)


def hits_needed(n_kept: Array, rec_thrs: Array) -> Array:
    """(K, R) int64: the smallest h above 0 with h / n_kept >= recall; n_kept + 1 or more where none is.

    n_kept: (K,) int64; the quotient is compared as float64.
    """
    n = np.maximum(n_kept, 1)[:, None]
    hits = np.maximum(np.ceil(rec_thrs * n).astype(np.int64) - 1, 1)
    for _ in range(2):  # a product's rounding moves the prediction by one at most
        hits += hits / n < rec_thrs
    return hits


class _Ranking:
    """Detections sorted by class, descending score, image and rank: the order of the precision-recall curves."""

    def __init__(self, matches: COCOMatches) -> None:
        n_iou, n_area, _ = matches.verdict.shape
        self.shape = n_iou, n_area, matches.n_kept.shape[1]
        cat, score = matches.cat.astype(np.int64), matches.score
        base = _by_class_image_rank(matches)
        order = base[stable_order(cat[base], falling_ranks(score[base]))]
        self.place = np.empty(order.size, np.int64)
        self.place[order] = np.arange(order.size)
        by_place = np.argsort(self.place[matches.candidate])
        candidate = matches.candidate[by_place]
        self.verdict = np.ascontiguousarray(matches.verdict.transpose(1, 0, 2)[:, :, by_place])  # (A, T, C)
        self.candidate_place = self.place[candidate]
        self.candidate_cat, self.candidate_rank = cat[candidate], matches.rank[candidate]
        self.candidate_score, self.candidate_aside = score[candidate], matches.aside[:, candidate]
        # false positives without any overlap: they count at every threshold
        self.plain_miss = ~matches.aside[:, order]
        self.plain_miss[:, self.candidate_place] = False
        self.cat, self.rank, self.score = cat[order], matches.rank[order], score[order]
        self.class_start = np.searchsorted(self.cat, np.arange(self.shape[2]))

    def allowed(self, max_det: int) -> "_Allowed":
        """The detections that count with a limit of max_det per class and image."""
        within = self.rank < max_det
        first_score = np.zeros(self.shape[2])
        rows = np.flatnonzero(within)
        starts = rows[run_starts(self.cat[rows])]
        first_score[self.cat[starts]] = self.score[starts]
        rows_within = np.flatnonzero(self.candidate_rank < max_det)
        # a slice avoids the copy in the usual case that all of them count
        chosen = slice(None) if rows_within.size == self.candidate_rank.size else rows_within
        cat = self.candidate_cat[chosen]
        return _Allowed(within, chosen, cat, np.searchsorted(cat, np.arange(self.shape[2])), first_score)

    def curve(self, a: int, allowed: "_Allowed", needed: Array, rec_thrs: Array) -> tuple[Array, Array, Array]:
        """Precision and scores (T, K, R) and hits (T, K) for one area range and one limit of detections."""
        n_iou, _, n_cat = self.shape
        chosen, cat = allowed.chosen, allowed.cat
        misses = _counts_before(allowed.within & self.plain_miss[a])
        plain = misses[self.candidate_place[chosen]] - misses[self.class_start[cat]]
        verdict = self.verdict[a][:, chosen]
        hit = verdict == 1
        t = np.repeat(np.arange(n_iou), np.count_nonzero(hit, axis=1))
        at = np.flatnonzero(hit) - t * cat.size
        missed = _counts_before((verdict == 0) & ~self.candidate_aside[a][chosen])
        run = t * n_cat + cat[at]
        hits = np.bincount(run, minlength=n_iou * n_cat)
        begin = np.cumsum(hits) - hits
        hit = (np.arange(1, run.size + 1) - begin[run]).astype(np.float64)
        miss = missed[t, at + 1] - missed[:, allowed.class_start].reshape(-1)[run] + plain[at]
        reached = hit / (miss.astype(np.float64) + hit + _SPACING)
        score = self.candidate_score[chosen][at]
        best, score = _at_recalls(reached, score, hits, begin, needed, n_iou, allowed.first_score, rec_thrs)
        return best, score, hits.reshape(n_iou, n_cat)


class _Allowed(NamedTuple):
    within: Array  # (N,) bool, by place
    chosen: Array | slice  # candidates
    cat: Array  # of the candidates
    class_start: Array  # (K,), first candidate of each class
    first_score: Array  # (K,), of the highest-scoring detection, 0 if there is none


def _counts_before(flags: Array) -> Array:
    """The number of set flags before each position of the last axis, and in total: one element longer, int32."""
    counts = np.zeros((*flags.shape[:-1], flags.shape[-1] + 1), np.int32)
    counts[..., 1:] = flags  # converted first: a cumulative sum of bool takes twice the time
    return np.cumsum(counts, axis=-1, out=counts)


def _by_class_image_rank(matches: COCOMatches) -> Array:
    """The order of the rows by class, image and rank, independent of the order of evaluation."""
    cat, image_id = matches.cat, matches.image_id
    same = cat[1:] == cat[:-1]
    rising = image_id[1:] >= image_id[:-1]
    if ((cat[1:] > cat[:-1]) | (same & rising)).all():  # rows of an image and a class are contiguous and in order
        return np.arange(cat.size)
    return np.lexsort((matches.rank, image_id, cat))


def _at_recalls(
    reached: Array,
    score: Array,
    hits: Array,
    begin: Array,
    needed: Array,
    n_iou: int,
    first_score: Array,
    rec_thrs: Array,
) -> tuple[Array, Array]:
    """The interpolated precision at each recall, and the score there: (T, K, R) each, 0 if the recall is not reached.

    reached, score: (h,) float64, precision and score of the hits by threshold, class and descending score
    hits, begin: (T * K,) int64, number and first index of the hits of each class; needed: (K, R) int64
    """
    n_cat, n_rec = needed.shape
    hits, begin = hits.reshape(n_iou, n_cat, 1), begin.reshape(n_iou, n_cat, 1)
    got = needed <= hits
    at = begin + np.where(got, needed - 1, hits)
    reached, score = np.append(reached, 0.0), np.append(score, 0.0)
    # maxima between consecutive recalls: `begin` starts a segment of its own for the hits before the first recall
    edges = np.concatenate((begin, at), axis=2).reshape(-1)
    best = np.maximum.reduceat(reached, edges).reshape(n_iou, n_cat, n_rec + 1)[:, :, 1:]
    best = np.where(got, best, 0.0)
    best = np.maximum.accumulate(best[:, :, ::-1], axis=2)[:, :, ::-1]
    score = np.where(got, score[at], 0.0)
    # a recall of 0 is reached at the highest-scoring detection, true or false positive
    score[:, :, rec_thrs <= 0] = first_score[:, None]
    return best, score
