"""Curves, against the reference's loop written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvzoo.evaluations.coco.accumulate import accumulate, hits_needed
from cvzoo.evaluations.coco.lookup import falling_ranks, lookup, places_in_runs, stable_order
from cvzoo.evaluations.coco.matches import COCOMatches, join_matches

REC = np.linspace(0.0, 1.0, 101)


def slowly(matches, rec_thrs, max_dets):
    """One class, one range and one threshold after another, as pycocotools' text has it."""
    n_iou, n_area, _ = matches.verdict.shape
    n_cat = matches.n_kept.shape[1]
    shape = (n_iou, len(rec_thrs), n_cat, n_area, len(max_dets))
    precision, scores, recall = -np.ones(shape), -np.ones(shape), -np.ones(shape[:1] + shape[2:])
    verdict = np.zeros((n_iou, n_area, matches.cat.size), int)
    verdict[:, :, matches.candidate] = matches.verdict
    for t, k, a, m in np.ndindex(recall.shape):
        n = matches.n_kept[a, k]
        if n == 0:
            continue
        rows = np.flatnonzero((matches.cat == k) & (matches.rank < max_dets[m]))
        rows = rows[np.lexsort((matches.rank[rows], matches.image_id[rows]))]
        rows = rows[np.argsort(-matches.score[rows], kind="stable")]
        hit = verdict[t, a, rows] == 1
        miss = (verdict[t, a, rows] == 0) & ~matches.aside[a, rows]
        tp, fp = np.cumsum(hit).astype(float), np.cumsum(miss).astype(float)
        rc, pr = tp / n, tp / (fp + tp + np.spacing(1))
        recall[t, k, a, m] = rc[-1] if rows.size else 0
        pr = np.maximum.accumulate(pr[::-1])[::-1]
        precision[t, :, k, a, m] = scores[t, :, k, a, m] = 0
        for r, at in enumerate(np.searchsorted(rc, rec_thrs, side="left")):
            if at < rows.size:
                precision[t, r, k, a, m], scores[t, r, k, a, m] = pr[at], matches.score[rows[at]]
    return precision, recall, scores


def random_matches(rng, *, n, n_cat=3, n_img=4, n_iou=2, n_area=2, ties=5):
    cat, image_id = rng.integers(0, n_cat, n).astype(np.int32), rng.integers(1, n_img + 1, n)
    score = rng.integers(0, ties, n) / ties
    group = cat * (n_img + 1) + image_id
    order = np.lexsort((-score, group))
    cat, image_id, score, group = cat[order], image_id[order], score[order], group[order]
    candidate = np.flatnonzero(rng.random(n) < 0.6)
    verdict = rng.integers(0, 3, (n_iou, n_area, candidate.size)).astype(np.int8)
    hits = np.zeros((n_area, n_cat), np.int64)
    for a in range(n_area):
        for t in range(n_iou):
            count = np.bincount(cat[candidate[verdict[t, a] == 1]], minlength=n_cat)
            hits[a] = np.maximum(hits[a], count)
    return COCOMatches(
        img_ids=np.arange(1, n_img + 1),
        cat_ids=np.arange(n_cat),
        n_kept=hits + rng.integers(0, 3, (n_area, n_cat)),
        cat=cat,
        image_id=image_id,
        rank=places_in_runs(group).astype(np.int32),
        score=score,
        aside=rng.random((n_area, n)) < 0.3,
        candidate=candidate,
        verdict=verdict,
    )


@pytest.mark.parametrize("rec_thrs", [REC, np.array([0.0]), np.array([0.3, 0.5, 0.5, 1.0]), np.array([-1.0, 2.0])])
@pytest.mark.parametrize("n", [0, 1, 2, 30, 200])
@pytest.mark.parametrize("seed", range(3))
def test_curves_have_the_bits_of_the_slow_way(seed, n, rec_thrs):
    matches = random_matches(np.random.default_rng(seed), n=n)
    got = accumulate(matches, rec_thrs=rec_thrs, max_dets=(0, 1, 2, 100))
    for mine, want in zip(got, slowly(matches, rec_thrs, (0, 1, 2, 100)), strict=True):
        np.testing.assert_array_equal(mine, want)


@given(st.integers(0, 10**6), st.lists(st.floats(0, 1), min_size=1, max_size=20))
@settings(max_examples=200, deadline=None)
def test_the_hits_needed_are_those_that_a_search_finds(n, recalls):
    needed = hits_needed(np.array([n]), np.array(recalls))[0]
    for recall, h in zip(recalls, needed.tolist(), strict=True):
        assert h >= 1
        assert h / max(n, 1) >= recall
        assert h == 1 or (h - 1) / max(n, 1) < recall


def test_the_hits_needed_on_the_usual_grid():
    for n in range(1, 400):
        curve = np.arange(1, n + 1) / n
        np.testing.assert_array_equal(hits_needed(np.array([n]), REC)[0], np.searchsorted(curve, REC, side="left") + 1)


@pytest.mark.parametrize("seed", range(5))
def test_photos_may_be_dealt_out_in_any_way(seed):
    rng = np.random.default_rng(seed)
    whole = random_matches(rng, n=150, n_img=7)
    worker = rng.integers(0, 3, 8)
    parts = [cut(whole, np.isin(whole.image_id, np.flatnonzero(worker == w)), w == 0, worker == w) for w in range(3)]
    rng.shuffle(parts)
    joined = join_matches([join_matches(parts[:2]), parts[2]])
    for one, other in zip(
        accumulate(joined, rec_thrs=REC, max_dets=(1, 10)),
        accumulate(whole, rec_thrs=REC, max_dets=(1, 10)),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def cut(whole, rows, with_objects, photos):
    rows = np.flatnonzero(rows)
    mine = np.isin(whole.candidate, rows)
    return COCOMatches(
        img_ids=whole.img_ids[photos[whole.img_ids]],
        cat_ids=whole.cat_ids,
        n_kept=whole.n_kept if with_objects else np.zeros_like(whole.n_kept),
        cat=whole.cat[rows],
        image_id=whole.image_id[rows],
        rank=whole.rank[rows],
        score=whole.score[rows],
        aside=whole.aside[:, rows],
        candidate=np.searchsorted(rows, whole.candidate[mine]),
        verdict=whole.verdict[:, :, mine],
    )


@pytest.mark.parametrize("ids", [[], [5], [1, 2, 3, 900], [-4, 0, 7], [0, 10**15]])
def test_ids_are_looked_up(ids):
    ids, values = np.array(ids, np.int64), np.array([-5, -4, 0, 1, 3, 4, 5, 899, 900, 901, 10**15])
    place, known = lookup(ids, values)
    assert known.tolist() == np.isin(values, ids).tolist()
    assert ids[place[known]].tolist() == values[known].tolist()


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0, 1, 2, 2**40])), max_size=50))
@settings(deadline=None)
def test_stable_order_is_that_of_lexsort(keys):
    major, minor = (np.array([key[i] for key in keys], np.int64) for i in (0, 1))
    for scale in (1, 2**20):  # with the larger one, the keys do not fit into one integer
        np.testing.assert_array_equal(stable_order(major * scale, minor), np.lexsort((minor, major * scale)))
    np.testing.assert_array_equal(stable_order(major), np.argsort(major, kind="stable"))


def test_equal_scores_have_equal_ranks():
    assert falling_ranks(np.array([0.5, 0.9, 0.5, -1.0, 0.9])).tolist() == [1, 0, 1, 2, 0]
    assert falling_ranks(np.array([0.0, -0.0])).tolist() == [0, 0]
    assert falling_ranks(np.zeros(0)).tolist() == []
