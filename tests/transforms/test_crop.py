"""Cropping and padding photos, boxes, masks and label maps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.errors import DtypeError, ShapeError
from cvzoo.transforms import crop, crop_bbox, crop_label_map, crop_mask

IMG = np.random.default_rng(0).integers(0, 256, (3, 9, 11)).astype(np.uint8)
WINDOW = st.tuples(st.integers(-15, 15), st.integers(1, 20), st.integers(-15, 15), st.integers(1, 20))


@given(WINDOW, st.booleans())
def test_a_window_equals_padding_and_slicing(window, pixels_first):
    top, height, left, width = window
    img = np.ascontiguousarray(IMG.transpose(1, 2, 0)).transpose(2, 0, 1) if pixels_first else IMG
    padded = np.full((3, 60, 60), 0, np.uint8) + np.array([1, 2, 3], np.uint8)[:, None, None]
    padded[:, 20:29, 20:31] = IMG
    got = crop(img, y_slice=slice(top, top + height), x_slice=slice(left, left + width), fill=(1, 2, 3))
    np.testing.assert_array_equal(got, padded[:, 20 + top : 20 + top + height, 20 + left : 20 + left + width])
    assert got.dtype == np.uint8
    assert not np.shares_memory(got, img)


def test_the_memory_order_is_kept():
    pixels = np.ascontiguousarray(IMG.transpose(1, 2, 0)).transpose(2, 0, 1)
    for window in (slice(1, 5), slice(-1, 5)):
        assert crop(pixels, y_slice=window, x_slice=window).transpose(1, 2, 0).flags.c_contiguous
        assert crop(IMG, y_slice=window, x_slice=window).flags.c_contiguous


def test_wrong_windows_and_fills_are_refused():
    with pytest.raises(ShapeError, match="empty"):
        crop(IMG, y_slice=slice(3, 3), x_slice=slice(0, 3))
    with pytest.raises(ShapeError, match="fill"):
        crop(IMG, y_slice=slice(-1, 3), x_slice=slice(0, 3), fill=(1, 2))


BOXES = np.array([[0, 0, 4, 4], [2, 2, 8, 8], [6, 6, 9, 9], [3, 3, 5, 5]], np.float32)


def test_boxes_are_cut_moved_and_dropped():
    bbox, param = crop_bbox(BOXES, y_slice=slice(2, 6), x_slice=slice(3, 6), return_param=True)
    assert bbox.tolist() == [[0, 0, 2, 1], [0, 0, 4, 3], [1, 0, 3, 2]]
    assert param["index"].tolist() == [0, 1, 3]
    assert param["truncated_index"].tolist() == [0, 1]  # places in what is returned
    assert BOXES[0].tolist() == [0, 0, 4, 4]


def test_boxes_whose_centre_is_outside_may_be_dropped():
    _, param = crop_bbox(BOXES, y_slice=slice(2, 6), x_slice=slice(3, 6), allow_outside_center=False, return_param=True)
    assert param["index"].tolist() == [1, 3]  # the first one's is at x = 2


@pytest.mark.parametrize("side", [None, slice(None), slice(0, None)])
def test_a_side_may_be_whole(side):
    np.testing.assert_array_equal(crop_bbox(BOXES, y_slice=side, x_slice=side), BOXES)
    assert crop_bbox(BOXES, y_slice=slice(8, None)).tolist() == [[0, 6, 1, 9]]


def test_no_boxes_stay_no_boxes():
    assert crop_bbox(np.zeros((0, 4)), y_slice=slice(0, 1)).shape == (0, 4)


def test_masks_are_false_and_labels_ignored_beyond_the_photo():
    window = {"y_slice": slice(-1, 2), "x_slice": slice(0, 2)}
    assert crop_mask(np.ones((1, 3, 3), bool), **window)[0].tolist() == [[False] * 2, [True] * 2, [True] * 2]
    assert crop_label_map(np.ones((3, 3), np.int32), **window).tolist() == [[-1] * 2, [1] * 2, [1] * 2]
    with pytest.raises(DtypeError, match="bool"):
        crop_mask(np.ones((1, 3, 3)), **window)
    with pytest.raises(DtypeError, match="integers"):
        crop_label_map(np.ones((3, 3)), **window)
    with pytest.raises(ShapeError, match=r"\(R, H, W\)"):
        crop_mask(np.ones((3, 3), bool), **window)
