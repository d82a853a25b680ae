"""The boxes that stay on a made-up GPU are those that stay on the CPU."""

import numpy as np
import pytest
from host_cuda import thread_order
from host_cuda.module import ORDERS
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.backends.cuda.selection import Candidates, nms_batch, sort_candidates
from cvzoo.geometry.nms import classwise_nms, nms


@pytest.fixture(scope="module")
def machine():
    install = pytest.importorskip("fake_gpu.install")
    with install.fake_gpu() as machine:
        yield machine


@pytest.fixture(autouse=True)
def compiler(fake_gpu):
    """Skips without g++."""


def draw_boxes(rng, n, *, whole):
    corner = rng.integers(0, 40, (n, 2)) if whole else rng.random((n, 2)) * 40
    size = rng.integers(-1, 25, (n, 2)) if whole else rng.random((n, 2)) * 25
    bbox = np.concatenate([corner, corner + size], axis=1).astype(np.float32)
    return bbox, rng.integers(0, 3, n).astype(np.int32), rng.integers(0, 12, n).astype(np.float32) / 11


def kept_on(machine, bbox, label, score, **settings):
    found = sort_candidates(Candidates(*(machine.cupy.array(each) for each in (bbox, label, score))))
    kept = nms_batch(found, **settings)
    places, rows, counts = found.indices.get(), kept.rows.get(), kept.counts.get()
    assert all((row[count:] == -1).all() for row, count in zip(rows, counts))
    return [place[row[:count]].tolist() for place, row, count in zip(places, rows, counts)]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("limit", [None, 1, 30])
@pytest.mark.parametrize("n", [1, 63, 64, 65, 300])
def test_boxes_that_stay_are_those_of_the_cpu(machine, n, limit, order):
    rng = np.random.default_rng(n)
    photos = [draw_boxes(rng, n, whole=whole) for whole in (True, False)]
    with thread_order(order):
        together = kept_on(machine, *map(np.stack, zip(*photos)), iou_thresh=0.4, limit=limit)
    for own, (bbox, label, score) in zip(together, photos):
        assert own == classwise_nms(bbox, label, score, iou_thresh=0.4, limit=limit).tolist()


@given(st.integers(0, 10**6), st.integers(1, 90), st.sampled_from([0.0, 0.25, 0.3, 0.5, 1.0]), st.booleans())
def test_classes_may_count_and_ties_of_iou_fall_as_on_the_cpu(machine, seed, n, thresh, classwise):
    bbox, label, score = draw_boxes(np.random.default_rng(seed), n, whole=True)
    (own,) = kept_on(machine, bbox[None], label[None], score[None], iou_thresh=thresh, limit=None, classwise=classwise)
    if classwise:
        want = classwise_nms(bbox, label, score, iou_thresh=thresh)
    else:
        want = nms(bbox, score, iou_thresh=thresh)
    assert own == want.tolist()


def test_photos_may_have_different_numbers_of_boxes(machine):
    bbox, label, score = draw_boxes(np.random.default_rng(5), 100, whole=False)
    scores = np.stack([score, np.where(np.arange(100) < 7, score, -np.inf), np.full(100, -np.inf)]).astype(np.float32)
    three = [np.stack([each] * 3) for each in (bbox, label)]
    all_, few, none = kept_on(machine, *three, scores, iou_thresh=0.5, limit=None)
    assert all_ == classwise_nms(bbox, label, score, iou_thresh=0.5).tolist()
    assert few == classwise_nms(bbox[:7], label[:7], score[:7], iou_thresh=0.5).tolist()
    assert none == []


def test_only_so_many_of_the_best_are_compared(machine):
    bbox, label, score = draw_boxes(np.random.default_rng(6), 200, whole=False)
    (own,) = kept_on(machine, bbox[None], label[None], score[None], iou_thresh=0.5, limit=None, most=70)
    best = np.argsort(-score, kind="stable")[:70]
    want = best[classwise_nms(bbox[best], label[best], score[best], iou_thresh=0.5)]
    assert own == want.tolist()


def test_suppression_waits_for_nothing(machine):
    bbox, label, score = draw_boxes(np.random.default_rng(7), 50, whole=False)
    there = [machine.cupy.array(each[None]) for each in (bbox, label, score)]
    before = len(machine.recorder)
    nms_batch(sort_candidates(Candidates(*there)), iou_thresh=0.5, limit=10)
    assert not [entry for entry in machine.recorder[before:] if entry.kind in ("h2d", "d2h", "sync")]
