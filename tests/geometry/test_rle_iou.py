"""Overlaps of run-length encoded masks against those of dense masks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cvzoo.errors import ShapeError, ValueRangeError
from cvzoo.geometry import RLEs, rle_iou, rle_iou_pairs


def dense_iou(a, b, crowd):
    """One pair after the other, from dense masks."""
    iou = np.zeros((len(a), len(b)))
    for n, one in enumerate(a):
        for k, other in enumerate(b):
            inter = int((one & other).sum())
            if inter:
                iou[n, k] = inter / int(one.sum() if crowd[k] else (one | other).sum())
    return iou


@st.composite
def two_sets(draw):
    size = draw(st.tuples(st.integers(1, 8), st.integers(1, 8)))
    a, b = (draw(hnp.arrays(bool, (draw(st.integers(0, 4)), *size))) for _ in range(2))
    return a, b, draw(hnp.arrays(bool, len(b)))


@given(two_sets())
def test_every_pair_is_that_of_the_dense_masks_to_the_last_bit(sets):
    a, b, crowd = sets
    np.testing.assert_array_equal(rle_iou(RLEs.from_masks(a), RLEs.from_masks(b), crowd), dense_iou(a, b, crowd))


@given(two_sets(), st.floats(0.01, 1))
def test_what_reaches_the_threshold_is_not_lost(sets, at_least):
    a, b, crowd = sets
    index = [each.ravel() for each in np.indices((len(a), len(b)))]
    rles = RLEs.from_masks(a), RLEs.from_masks(b)
    exact = rle_iou_pairs(*rles, *index, crowd)
    quick = rle_iou_pairs(*rles, *index, crowd, at_least=at_least)
    assert ((quick == exact) | ((quick == 0) & (exact < at_least))).all()


def test_blocks_do_not_change_the_result(monkeypatch):
    rng = np.random.default_rng(0)
    rles = RLEs.from_masks(rng.random((20, 13, 17)) < 0.3)
    expected = rle_iou(rles, rles)
    monkeypatch.setitem(rle_iou_pairs.__globals__, "_BLOCK", 50)
    np.testing.assert_array_equal(rle_iou(rles, rles), expected)
    assert (np.diag(expected) == 1).all()


def test_photos_so_large_that_each_pair_is_a_block_of_its_own():
    size = (2**15, 2**15)
    rles = RLEs.from_counts([[5, 2**29, 2**29 - 5], [2**28, 2**29, 2**28]], [size] * 2)
    inter = 5 + 2**28
    expected = inter / (2**30 - inter)
    assert rle_iou(rles, rles).tolist() == [[1, expected], [expected, 1]]


def test_sizes_that_differ_give_minus_one_where_the_boxes_meet():
    a = RLEs.from_masks(np.ones((1, 4, 4), bool))
    b = np.zeros((2, 6, 8), bool)
    b[0, :2, :2] = True  # meets
    b[1, :, 6:] = True  # does not
    assert rle_iou(a, RLEs.from_masks(b)).tolist() == [[-1, 0]]


def test_no_pairs_at_all():
    some, none = RLEs.from_masks(np.ones((2, 3, 3), bool)), RLEs.from_masks(np.ones((0, 3, 3), bool))
    assert rle_iou(some, none).shape == (2, 0)
    assert rle_iou(none, some).shape == (0, 2)
    assert rle_iou_pairs(some, some, [], []).shape == (0,)


@pytest.mark.parametrize(
    ("index_a", "index_b", "crowd", "error"),
    [
        ([0, 1], [0], None, ShapeError),
        ([[0]], [[0]], None, ShapeError),
        ([2], [0], None, ValueRangeError),
        ([0], [-1], None, ValueRangeError),
        ([0], [0], [True], ShapeError),
    ],
)
def test_indices_and_flags_must_fit(index_a, index_b, crowd, error):
    rles = RLEs.from_masks(np.ones((2, 3, 3), bool))
    with pytest.raises(error):
        rle_iou_pairs(rles, rles, index_a, index_b, crowd)
