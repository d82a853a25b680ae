"""Coding boxes as offsets from anchors, and back."""

import math

import numpy as np
import pytest

from cvzoo.errors import ShapeError
from cvzoo.geometry import decode_bbox, encode_bbox

ANCHOR = np.array([[0, 0, 10, 20]], np.float32)

CASES = [
    ([0, 0, 10, 20], [0, 0, 0, 0]),  # the anchor itself
    ([5, 0, 15, 20], [0.5, 0, 0, 0]),  # half a height down
    ([0, -5, 10, 15], [0, -0.25, 0, 0]),  # a quarter of a width to the left
    ([-5, -10, 15, 30], [0, 0, math.log(2), math.log(2)]),  # twice as large
]


def boxes(n, seed=0):
    rng = np.random.default_rng(seed)
    corner, size = rng.uniform(0, 300, (n, 2)), rng.uniform(5, 100, (n, 2))
    return np.concatenate([corner, corner + size], axis=1).astype(np.float32)


@pytest.mark.parametrize(("bb", "code"), CASES)
def test_coding_worked_by_hand(bb, code):
    bbox, code = np.array([bb], np.float32), np.array([code], np.float32)
    np.testing.assert_allclose(encode_bbox(bbox, ANCHOR), code, atol=1e-6)
    np.testing.assert_allclose(decode_bbox(code, ANCHOR), bbox, atol=1e-5)


@pytest.mark.parametrize(("mean", "std"), [((0, 0, 0, 0), (1, 1, 1, 1)), ((0.1, -0.2, 0.3, 0), (0.1, 0.1, 0.2, 0.2))])
def test_decoding_undoes_encoding(mean, std):
    bbox, anchor = boxes(50), boxes(50, seed=1)
    code = encode_bbox(bbox, anchor, mean=mean, std=std)
    assert code.dtype == np.float32
    np.testing.assert_allclose(decode_bbox(code, anchor, mean=mean, std=std), bbox, rtol=1e-4, atol=1e-2)


def test_std_is_the_variance_of_ssd():
    code = encode_bbox(ANCHOR + np.float32([5, 0, 5, 0]), ANCHOR, std=(0.1, 0.1, 0.2, 0.2))
    np.testing.assert_allclose(code, [[5, 0, 0, 0]], atol=1e-5)


def test_wild_offsets_make_large_boxes_and_not_infinite_ones():
    bbox = decode_bbox(np.array([[0, 0, 1e4, 1e30]], np.float32), ANCHOR)
    np.testing.assert_allclose(bbox[0, 2:] - bbox[0, :2], [10 * 62.5, 20 * 62.5], rtol=1e-5)


def test_empty_boxes_and_anchors_have_finite_offsets():
    empty = np.array([[3, 3, 3, 3]], np.float32)
    assert np.isfinite(encode_bbox(empty, ANCHOR)).all()
    assert np.isfinite(encode_bbox(empty, empty)).all()


def test_no_boxes_have_no_offsets():
    none = np.zeros((0, 4), np.float32)
    assert encode_bbox(none, none).shape == (0, 4)
    assert decode_bbox(none, none).shape == (0, 4)


def test_rows_must_match():
    for function in (encode_bbox, decode_bbox):
        with pytest.raises(ShapeError, match="must have the same shape"):
            function(boxes(3), boxes(4))
