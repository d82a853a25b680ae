"""Precision, recall and scores at the recall points, from verdicts."""

from typing import NamedTuple

import numpy as np

from cvzoo.evaluations.coco.lookup import falling_ranks, run_starts, stable_order
from cvzoo.evaluations.coco.matches import COCOMatches

# what pycocotools adds to a number of detections before it divides by it: the first hit has 1 - 2.2e-16
_SPACING = np.spacing(1.0)


def accumulate(matches: COCOMatches, *, rec_thrs, max_dets):
    """precision (T, R, K, A, M), recall (T, K, A, M) and scores (T, R, K, A, M), float64.

    rec_thrs: (R,) float64, rising; max_dets: M integers
    -1 where a class has no object that is to be found; 0 where it has, and no detection reaches the recall.

    Only hits can raise the precision, so the curve is looked at where they are, and the best precision to the right of
    a recall point is a maximum over runs of hits. The hit at which a recall is reached is found once for each class,
    from the number of its objects, with the comparison of floats that a search in the curve would make.
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


def hits_needed(n_kept, rec_thrs):
    """(K, R) int64: the smallest h above 0 with h / n_kept >= recall; n_kept + 1 or more where none is.

    n_kept: (K,) int64; the quotient is compared as float64.
    """
    n = np.maximum(n_kept, 1)[:, None]
    guess = np.maximum(np.ceil(rec_thrs * n).astype(np.int64) - 1, 1)
    for _ in range(2):  # a product's rounding moves the guess by one at most
        guess += guess / n < rec_thrs
    return guess


class _Ranking:
    """Detections by class and falling score, equal scores by photo and rank: the order in which curves are drawn."""

    def __init__(self, matches):
        n_iou, n_area, _ = matches.verdict.shape
        self.shape = n_iou, n_area, matches.n_kept.shape[1]
        cat, score = matches.cat.astype(np.int64), matches.score
        base = _by_class_photo_rank(matches)
        order = base[stable_order(cat[base], falling_ranks(score[base]))]
        self.place = np.empty(order.size, np.int64)
        self.place[order] = np.arange(order.size)
        by_place = np.argsort(self.place[matches.candidate])
        candidate = matches.candidate[by_place]
        self.verdict = np.ascontiguousarray(matches.verdict.transpose(1, 0, 2)[:, :, by_place])  # (A, T, C)
        self.candidate_place = self.place[candidate]
        self.candidate_cat, self.candidate_rank = cat[candidate], matches.rank[candidate]
        self.candidate_score, self.candidate_aside = score[candidate], matches.aside[:, candidate]
        # misses that overlap nothing: they count against every threshold alike
        self.plain_miss = ~matches.aside[:, order]
        self.plain_miss[:, self.candidate_place] = False
        self.cat, self.rank, self.score = cat[order], matches.rank[order], score[order]
        self.class_start = np.searchsorted(self.cat, np.arange(self.shape[2]))

    def allowed(self, max_det):
        """What is left if so many detections of a class and a photo count."""
        within = self.rank < max_det
        first_score = np.zeros(self.shape[2])
        rows = np.flatnonzero(within)
        starts = rows[run_starts(self.cat[rows])]
        first_score[self.cat[starts]] = self.score[starts]
        chosen = np.flatnonzero(self.candidate_rank < max_det)
        # all of them, most often: then nothing need be copied
        chosen = slice(None) if chosen.size == self.candidate_rank.size else chosen
        cat = self.candidate_cat[chosen]
        return _Allowed(within, chosen, cat, np.searchsorted(cat, np.arange(self.shape[2])), first_score)

    def curve(self, a, allowed, needed, rec_thrs):
        """Precision and scores (T, K, R) and hits (T, K) for one range of area and one number of detections."""
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
    within: np.ndarray  # (N,) bool, by place
    chosen: np.ndarray | slice  # candidates
    cat: np.ndarray  # of the candidates
    class_start: np.ndarray  # (K,), first candidate of each class
    first_score: np.ndarray  # (K,), of the surest detection, 0 if there is none


def _counts_before(flags):
    """How many flags are set in front of each place along the last axis, and in all: one longer, int32."""
    counts = np.zeros((*flags.shape[:-1], flags.shape[-1] + 1), np.int32)
    counts[..., 1:] = flags  # first as numbers: adding up flags takes twice the time
    return np.cumsum(counts, axis=-1, out=counts)


def _by_class_photo_rank(matches):
    """The order of the rows by class, photo and rank: whoever evaluated them, and whenever."""
    cat, image_id = matches.cat, matches.image_id
    same = cat[1:] == cat[:-1]
    rising = image_id[1:] >= image_id[:-1]
    if ((cat[1:] > cat[:-1]) | (same & rising)).all():  # rows of a photo and a class come together, in their order
        return np.arange(cat.size)
    return np.lexsort((matches.rank, image_id, cat))


def _at_recalls(reached, score, hits, begin, needed, n_iou, first_score, rec_thrs):
    """The best precision from a recall on, and the score there: (T, K, R) each, 0 where it is not reached.

    reached, score: (h,) float64, hits by threshold and class in falling order of their scores
    hits, begin: (T * K,) int64, where a class' hits are; needed: (K, R) int64
    """
    n_cat, n_rec = needed.shape
    hits, begin = hits.reshape(n_iou, n_cat, 1), begin.reshape(n_iou, n_cat, 1)
    got = needed <= hits
    at = begin + np.where(got, needed - 1, hits)
    reached, score = np.append(reached, 0.0), np.append(score, 0.0)
    # between one recall point and the next: the run's first hits are closed off by a place of their own
    edges = np.concatenate((begin, at), axis=2).reshape(-1)
    best = np.maximum.reduceat(reached, edges).reshape(n_iou, n_cat, n_rec + 1)[:, :, 1:]
    best = np.where(got, best, 0.0)
    best = np.maximum.accumulate(best[:, :, ::-1], axis=2)[:, :, ::-1]
    score = np.where(got, score[at], 0.0)
    # a recall of 0 is reached at the surest detection, hit or miss
    score[:, :, rec_thrs <= 0] = first_score[:, None]
    return best, score
