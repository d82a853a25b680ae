"""The plan that skips most pairs misses none."""

import numpy as np
import pytest

from cvzoo.backends.numpy.suppression import overlapped, overlapping_pairs
from cvzoo.geometry.bbox_iou import bbox_iou


def boxes(n, span, side, seed=0):
    rng = np.random.default_rng(seed)
    corner, size = rng.uniform(0, span, (n, 2)), rng.uniform(-1, side, (n, 2))
    return np.concatenate([corner, corner + size], axis=1).astype(np.float32)


@pytest.mark.parametrize("thresh", [0.0, 0.3, 0.5, 0.9, 1.0])
@pytest.mark.parametrize(("span", "side"), [(1000, 200), (100, 5), (10, 300), ((1000, 1), 100), ((1, 1000), 100)])
def test_overlapping_pairs_finds_every_pair(span, side, thresh):
    bbox, thresh = boxes(700, span, side), np.float32(thresh)
    first, second = overlapping_pairs(bbox, thresh)
    found = np.zeros((700, 700), dtype=int)
    np.add.at(found, (first, second), 1)
    np.testing.assert_array_equal(found, np.triu(bbox_iou(bbox, bbox) > thresh, 1))


@pytest.mark.parametrize("thresh", [0.0, 0.3, 0.5, 0.9, 1.0])
@pytest.mark.parametrize(("span", "side"), [(1000, 200), (100, 5), (10, 300), ((1000, 1), 100), ((1, 1000), 100)])
def test_overlapped_finds_every_box(span, side, thresh):
    bbox, others, thresh = boxes(500, span, side), boxes(90, span, side, seed=1), np.float32(thresh)
    expected = (bbox_iou(bbox, others) > thresh).any(axis=1)
    np.testing.assert_array_equal(overlapped(bbox, others, thresh), expected)


def test_too_many_pairs_are_not_gathered():
    same = np.repeat(np.float32([[0, 0, 10, 10]]), 2000, axis=0)
    assert overlapping_pairs(same, np.float32(0.5), cap=1000) is None


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_has_no_pairs(n):
    bbox = boxes(n, 10, 10)
    assert [len(each) for each in overlapping_pairs(bbox, np.float32(0.5))] == [0, 0]
    assert overlapped(bbox, boxes(0, 10, 10), np.float32(0.5)).tolist() == [False] * n
    assert overlapped(boxes(0, 10, 10), bbox, np.float32(0.5)).tolist() == []
