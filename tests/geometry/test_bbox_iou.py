"""Areas and overlaps of boxes, against cases worked by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cvzoo.errors import DtypeError, ShapeError
from cvzoo.geometry import bbox_area, bbox_giou, bbox_intersection, bbox_iou

BOXES = hnp.arrays(np.float32, st.tuples(st.integers(0, 6), st.just(4)), elements=st.integers(-50, 50))

CASES = [
    # a, b, intersection, IoU, generalized IoU
    ([0, 0, 10, 10], [0, 0, 10, 10], 100, 1, 1),  # the same
    ([0, 0, 10, 10], [0, 0, 10, 5], 50, 1 / 2, 1 / 2),  # one holds the other
    ([0, 0, 10, 10], [0, 10, 10, 20], 0, 0, 0),  # they touch
    ([0, 0, 10, 10], [5, 5, 15, 15], 25, 1 / 7, 1 / 7 - 50 / 225),  # corners overlap
    ([0, 0, 1, 1], [0, 2, 1, 3], 0, 0, -1 / 3),  # apart
    ([0, 0, 10, 10], [2, 2, 2, 8], 0, 0, 0),  # an empty one inside
    ([3, 3, 3, 3], [3, 3, 3, 3], 0, 0, 0),  # both empty
    ([0, 0, 10, 10], [9, 9, 1, 1], 0, 0, 0),  # inverted
]


@pytest.mark.parametrize(("a", "b", "inter", "iou", "giou"), CASES)
def test_overlaps_worked_by_hand(a, b, inter, iou, giou):
    a, b = np.array([a], np.float32), np.array([b], np.float32)
    for function, expected in ((bbox_intersection, inter), (bbox_iou, iou), (bbox_giou, giou)):
        for result in (function(a, b), function(b, a)):
            assert result.shape == (1, 1)
            assert result.dtype == np.float32
            assert result[0, 0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("n", "k"), [(0, 0), (0, 3), (3, 0), (2, 3)])
def test_every_pair_has_an_entry(n, k):
    for function in (bbox_intersection, bbox_iou, bbox_giou):
        assert function(np.zeros((n, 4), np.float32), np.zeros((k, 4), np.float32)).shape == (n, k)


@given(BOXES, BOXES)
def test_iou_is_symmetric_and_within_bounds(a, b):
    iou, giou = bbox_iou(a, b), bbox_giou(a, b)
    np.testing.assert_array_equal(iou, bbox_iou(b, a).T)
    np.testing.assert_array_equal(giou, bbox_giou(b, a).T)
    assert ((iou >= 0) & (iou <= 1)).all()
    assert ((giou >= -1) & (giou <= iou)).all()


@given(BOXES)
def test_a_box_with_an_area_is_itself(a):
    np.testing.assert_array_equal(np.diag(bbox_iou(a, a)), bbox_area(a) > 0)


def test_iou_is_computed_in_float32_in_the_stated_order():
    rng = np.random.default_rng(0)
    corner, size = rng.uniform(0, 50, (300, 2)), rng.uniform(1, 50, (300, 2))
    a = np.concatenate([corner, corner + size], axis=1).astype(np.float32)
    area = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    for i in range(0, 300, 50):
        height = np.maximum(np.minimum(a[i, 2], a[:, 2]) - np.maximum(a[i, 0], a[:, 0]), np.float32(0))
        width = np.maximum(np.minimum(a[i, 3], a[:, 3]) - np.maximum(a[i, 1], a[:, 1]), np.float32(0))
        inter = height * width
        np.testing.assert_array_equal(bbox_iou(a[i : i + 1], a)[0], inter / ((area[i] + area) - inter))


def test_area_of_empty_and_inverted_boxes_is_zero():
    bbox = np.array([[0, 0, 2, 3], [1, 1, 1, 5], [5, 5, 1, 1], [0, 5, 4, 1]], np.float32)
    assert bbox_area(bbox).tolist() == [6, 0, 0, 0]
    assert bbox_area(np.zeros((0, 4))).shape == (0,)


def test_integers_become_float32_and_float64_stays():
    assert bbox_area(np.array([[0, 0, 2, 3]])).dtype == np.float32
    assert bbox_area(np.array([[0, 0, 2, 3]], np.float64)).dtype == np.float64
    assert bbox_area([[0, 0, 2, 3]]).tolist() == [6]
    assert bbox_area([]).shape == (0,)


@pytest.mark.parametrize("function", [bbox_iou, bbox_intersection, bbox_giou])
def test_wrong_shapes_are_refused_by_name(function):
    good = np.zeros((3, 4), np.float32)
    with pytest.raises(ShapeError, match="bbox_a must be"):
        function(np.zeros((3, 5)), good)
    with pytest.raises(ShapeError, match=r"bbox_b\.T"):
        function(good, np.zeros((4, 12)))
    with pytest.raises(ShapeError, match=r"bbox_a\[None\]"):
        function(np.zeros(4), good)
    with pytest.raises(DtypeError, match="real numbers"):
        function(good, np.zeros((3, 4), complex))
