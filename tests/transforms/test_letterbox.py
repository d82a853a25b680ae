"""Letterboxing: darknet's integer arithmetic, and boxes that find their way back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.errors import ShapeError
from cvzoo.transforms import letterbox, letterbox_bbox, letterbox_frame, unletterbox_bbox

SIZE = st.tuples(st.integers(1, 2000), st.integers(1, 2000))

FRAMES = [
    # in_size, size, size of the photo, offset
    ((576, 768), (416, 416), (312, 416), (52, 0)),
    ((768, 576), (416, 416), (416, 312), (0, 52)),
    ((100, 100), (320, 320), (320, 320), (0, 0)),  # square to square
    ((427, 640), (320, 320), (213, 320), (53, 0)),  # 213.5 is cut, and so is the half margin 53.5
    ((1, 5000), (416, 416), (1, 416), (207, 0)),  # no side vanishes
    ((480, 640), (320, 640), (320, 426), (0, 107)),  # a frame that is no square
]


@pytest.mark.parametrize(("in_size", "size", "new", "offset"), FRAMES)
def test_letterbox_frame_cuts_to_whole_pixels(in_size, size, new, offset):
    assert letterbox_frame(in_size, size) == (new, offset)


@given(SIZE, SIZE)
def test_letterbox_frame_fits_and_touches(in_size, size):
    new, offset = letterbox_frame(in_size, size)
    assert new[0] == size[0] or new[1] == size[1]
    for axis in (0, 1):
        assert 1 <= new[axis] <= size[axis]
        assert 0 <= size[axis] - new[axis] - 2 * offset[axis] <= 1


def test_letterbox_puts_the_photo_in_the_middle_of_grey():
    img = np.full((3, 10, 20), 200, dtype=np.uint8)
    boxed = letterbox(img, (40, 40))
    assert boxed.dtype == np.float32
    assert boxed.shape == (3, 40, 40)
    np.testing.assert_array_equal(boxed[:, 10:30], 200)
    np.testing.assert_array_equal(boxed[:, :10], 127.5)
    np.testing.assert_array_equal(boxed[:, 30:], 127.5)


def test_letterbox_takes_another_fill():
    assert letterbox(np.zeros((1, 1, 2)), (2, 2), fill=7.0)[0].tolist() == [[0, 0], [7, 7]]


@given(SIZE, SIZE)
def test_boxes_come_back_from_the_letterbox(in_size, size):
    bbox = np.array([[0, 0, in_size[0], in_size[1]], [0.25, 0.5, 0.75, 1]], dtype=np.float64)
    there = letterbox_bbox(bbox, in_size, size)
    (height, width), (y, x) = letterbox_frame(in_size, size)
    np.testing.assert_allclose(there[0], [y, x, y + height, x + width], rtol=1e-12)
    np.testing.assert_allclose(unletterbox_bbox(there, in_size, size), bbox, rtol=1e-9, atol=1e-9)


def test_letterbox_refuses_what_is_no_photo():
    with pytest.raises(ShapeError, match=r"\(C, H, W\)"):
        letterbox(np.zeros((10, 10)), (4, 4))
    with pytest.raises(ShapeError, match="size"):
        letterbox(np.zeros((1, 10, 10)), (4, 0))
