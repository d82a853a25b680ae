"""Suppression equals the plain loop, bit for bit, on spread, piled up and adversarial boxes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cvzoo.errors import ShapeError, ValueRangeError
from cvzoo.geometry import bbox_iou, classwise_nms, nms, non_maximum_suppression


def plain_nms(bbox, score, iou_thresh):
    """The definition: take the best, drop what overlaps it, repeat."""
    order = np.arange(len(bbox)) if score is None else np.argsort(-score, kind="stable")
    kept = []
    while len(order):
        kept.append(order[0])
        iou = bbox_iou(bbox[order[:1]], bbox[order[1:]])[0]
        order = order[1:][~(iou > np.float32(iou_thresh))]
    return np.array(kept, dtype=np.int64)


def spread(n, *, span=1000.0, side=200.0, seed=0):
    rng = np.random.default_rng(seed)
    corner, size = rng.uniform(0, span, (n, 2)), rng.uniform(1, side, (n, 2))
    return np.concatenate([corner, corner + size], axis=1).astype(np.float32)


def clusters(n, n_center, jitter, *, seed=0):
    rng = np.random.default_rng(seed)
    center = spread(n_center, seed=seed)
    return (center[rng.integers(0, n_center, n)] + rng.normal(0, jitter, (n, 4))).astype(np.float32)


BOXES = {
    "no boxes at all": spread(0),
    "one box": spread(1),
    "few boxes, all pairs at once": spread(100, span=200),
    "one more than few": spread(101, span=200),
    "spread over the photo": spread(2500),
    "piled up in one place": spread(1500, span=60, side=300),
    "tight clusters": clusters(2000, 20, 2),
    "loose clusters, some of them inverted": clusters(2000, 100, 40),
    "all the same box": np.repeat(spread(1), 1500, axis=0),
    "whole coordinates, so that many IoU lie on the threshold": np.rint(spread(1500, span=40, side=20)),
    "one column of boxes": np.stack([np.arange(1500), np.zeros(1500), np.arange(1500) + 9, np.ones(1500)], axis=1),
    "one row of boxes": np.stack([np.zeros(1500), np.arange(1500), np.ones(1500), np.arange(1500) + 9], axis=1),
    "nested boxes": np.outer(np.arange(1, 800), [-1, -1, 1, 1]),
    "half of them empty": spread(600) * np.repeat([[1, 1, 1, 1], [0, 0, 0, 0]], 300, axis=0),
    "far from the origin, where float32 is coarse": spread(800, span=100) + 1e6,
    "far from the origin, no digits left": spread(400, span=100) + 1e9,
    "tiny boxes whose areas underflow": spread(400, span=10) * 1e-24,
    "huge boxes whose areas overflow": spread(400, span=10) * 1e30,
    "many small around a few large": np.concatenate([spread(1200, side=10), spread(20, side=2000)]),
}


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid:RuntimeWarning")
@pytest.mark.parametrize("iou_thresh", [0.0, 0.1, 0.3, 0.45, 0.5, 0.7, 1.0])
@pytest.mark.parametrize("name", BOXES)
def test_nms_equals_the_plain_loop(name, iou_thresh):
    bbox = BOXES[name].astype(np.float32)
    # few different scores: ties everywhere
    score = np.random.default_rng(1).integers(0, 50, len(bbox)).astype(np.float32)
    expected = plain_nms(bbox, score, iou_thresh)
    kept = nms(bbox, score, iou_thresh=iou_thresh)
    assert kept.dtype == np.int64
    np.testing.assert_array_equal(kept, expected)


@given(
    hnp.arrays(np.float32, st.tuples(st.integers(0, 130), st.just(4)), elements=st.integers(-6, 6)),
    st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.6, 1.0]),
)
def test_nms_equals_the_plain_loop_on_small_whole_coordinates(bbox, iou_thresh):
    np.testing.assert_array_equal(nms(bbox, iou_thresh=iou_thresh), plain_nms(bbox, None, iou_thresh))


@pytest.mark.parametrize(("other", "iou_thresh"), [([0, 0, 10, 5], 0.5), ([0, 0, 3, 10], 0.3), ([0, 0, 6, 10], 0.6)])
def test_an_iou_of_exactly_the_threshold_does_not_suppress(other, iou_thresh):
    bbox = np.array([[0, 0, 10, 10], other], dtype=np.float32)
    assert nms(bbox, iou_thresh=iou_thresh).tolist() == [0, 1]
    assert nms(bbox, iou_thresh=iou_thresh - 1e-6).tolist() == [0]


def test_a_suppressed_box_suppresses_nobody():
    chain = np.array([[0, 0, 10, 10], [0, 4, 10, 14], [0, 8, 10, 18]], dtype=np.float32)
    assert nms(chain, iou_thresh=0.4).tolist() == [0, 2]


def test_without_scores_the_given_order_counts():
    bbox = np.array([[0, 0, 10, 9], [0, 0, 10, 10], [50, 50, 60, 60]], dtype=np.float32)
    assert nms(bbox, iou_thresh=0.5).tolist() == [0, 2]
    assert nms(bbox, np.array([0.1, 0.2, 0.3]), iou_thresh=0.5).tolist() == [2, 1]


def test_of_equal_scores_the_earlier_box_stays():
    bbox = np.repeat(np.array([[0, 0, 10, 10]], dtype=np.float32), 3, axis=0)
    assert nms(bbox, np.array([0.5, 0.5, 0.5]), iou_thresh=0.5).tolist() == [0]
    assert nms(bbox, np.array([0.5, 0.7, 0.7]), iou_thresh=0.5).tolist() == [1]


@pytest.mark.parametrize("limit", [0, 1, 7, 300, 5000])
def test_limit_keeps_the_best(limit):
    bbox, score = spread(2000), np.random.default_rng(2).random(2000)
    np.testing.assert_array_equal(
        nms(bbox, score, iou_thresh=0.5, limit=limit), nms(bbox, score, iou_thresh=0.5)[:limit]
    )


def test_scores_may_be_integers_and_infinite():
    bbox = spread(5, span=10)
    assert nms(bbox, np.arange(5, dtype=np.uint8), iou_thresh=0)[0] == 4
    assert nms(bbox, np.array([-np.inf, 0, np.inf, 1, 2]), iou_thresh=0)[0] == 2


def test_nms_leaves_its_arguments_alone():
    bbox, score = spread(500), np.random.default_rng(3).random(500)
    copies = bbox.copy(), score.copy()
    nms(bbox, score, iou_thresh=0.5)
    np.testing.assert_array_equal(bbox, copies[0])
    np.testing.assert_array_equal(score, copies[1])


@pytest.mark.parametrize("n_class", [1, 3, 80])
def test_classwise_nms_is_nms_of_each_class_merged_by_score(n_class):
    rng = np.random.default_rng(4)
    bbox = clusters(1500, 30, 5)
    label = rng.integers(0, n_class, 1500).astype(np.int32)
    score = rng.integers(0, 100, 1500).astype(np.float32)
    kept = np.concatenate(
        [
            np.flatnonzero(label == each)[plain_nms(bbox[label == each], score[label == each], 0.5)]
            for each in range(n_class)
        ]
    )
    kept = kept[np.lexsort((kept, -score[kept]))]
    np.testing.assert_array_equal(classwise_nms(bbox, label, score, iou_thresh=0.5), kept)
    np.testing.assert_array_equal(classwise_nms(bbox, label, score, iou_thresh=0.5, limit=9), kept[:9])


def test_classwise_nms_keeps_far_boxes_exact():
    # shifting class 1 by the largest coordinate, as the usual trick does, would lose the half pixel
    bbox = np.array([[1e7, 1e7, 1e7 + 2, 1e7 + 2], [1e7 + 1, 1e7, 1e7 + 3, 1e7 + 2]], dtype=np.float32)
    assert classwise_nms(bbox, [1, 1], iou_thresh=1 / 3).tolist() == [0, 1]
    assert classwise_nms(bbox, [1, 1], iou_thresh=0.33).tolist() == [0]
    assert classwise_nms(bbox, [0, 1], iou_thresh=0.33).tolist() == [0, 1]


def test_classwise_nms_of_nothing_is_nothing():
    kept = classwise_nms(np.zeros((0, 4), np.float32), np.zeros(0, np.int32), np.zeros(0, np.float32), iou_thresh=0.5)
    assert kept.dtype == np.int64
    assert kept.shape == (0,)


@pytest.mark.parametrize("size", [5, 500])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_boxes_that_are_not_finite_are_refused(bad, size):
    bbox = spread(size)
    bbox[3, 2] = bad
    with pytest.raises(ValueRangeError, match="NaN"):
        nms(bbox, iou_thresh=0.5)


def test_wrong_arguments_are_refused():
    bbox = spread(5)
    with pytest.raises(ShapeError, match=r"bbox\.T"):
        nms(bbox[:4].T[:, :3], iou_thresh=0.5)
    with pytest.raises(ShapeError, match="one value per box"):
        nms(bbox, np.zeros(4), iou_thresh=0.5)
    with pytest.raises(ShapeError, match="label"):
        classwise_nms(bbox, np.zeros(4, np.int32), np.zeros(5), iou_thresh=0.5)
    with pytest.raises(ValueRangeError, match="score holds NaN"):
        nms(bbox, np.array([0, 1, np.nan, 2, 3]), iou_thresh=0.5)
    for iou_thresh in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueRangeError, match="iou_thresh"):
            nms(bbox, iou_thresh=iou_thresh)
    with pytest.raises(ValueRangeError, match="limit"):
        nms(bbox, iou_thresh=0.5, limit=-1)


@pytest.mark.parametrize("bbox", [spread(3000, side=50), clusters(3000, 8, 0.1), clusters(3000, 90, 1)])
@pytest.mark.parametrize("limit", [0, 1, 40, 100, 700, 3000])
def test_a_limit_gives_the_first_of_all_classes_that_stay(bbox, limit):
    rng = np.random.default_rng(2)
    label, score = rng.integers(0, 30, len(bbox)), rng.random(len(bbox)).round(3)
    whole = classwise_nms(bbox, label, score, iou_thresh=0.4)
    np.testing.assert_array_equal(classwise_nms(bbox, label, score, iou_thresh=0.4, limit=limit), whole[:limit])


@pytest.mark.parametrize(
    ("thresh", "kept"),
    [
        (1, [0, 1, 2, 3]),
        (0.5, [0, 2, 3]),  # the second's IoU with the first is exactly this
        (0.51, [0, 1, 2, 3]),
        (1 / 3, [0, 2, 3]),
        (0, [0]),
    ],
)
def test_by_chainercvs_rule_an_iou_of_exactly_the_threshold_is_too_much(thresh, kept):
    bbox = np.array([[0, 0, 4, 4], [0, 0, 4, 2], [0, 4, 4, 8], [9, 9, 10, 10]], np.float32)
    found = non_maximum_suppression(bbox, thresh)
    assert found.tolist() == kept
    assert found.dtype == np.int32


def test_by_chainercvs_rule_scores_and_a_limit_are_the_later_arguments():
    bbox = np.array([[0, 0, 4, 4], [0, 0, 4, 4], [8, 8, 9, 9]], np.float32)
    assert non_maximum_suppression(bbox, 0.5, np.array([0.1, 0.9, 0.5])).tolist() == [1, 2]
    assert non_maximum_suppression(bbox, 0.5, np.array([0.1, 0.9, 0.5]), 1).tolist() == [1]
    assert non_maximum_suppression(bbox, 0, limit=0).tolist() == []
