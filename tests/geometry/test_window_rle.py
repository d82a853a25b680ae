"""Run lengths of windows are those of the whole masks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.rle import RLEs
from cvzoo.geometry.window_rle import window_rles


def dense(window, corner, size):
    mask = np.zeros((1, *size), bool)
    mask[0, corner[0] : corner[0] + window.shape[0], corner[1] : corner[1] + window.shape[1]] = window
    return mask


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_it_is_what_the_dense_mask_gives(data):
    height, width = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    h, w = data.draw(st.integers(0, height)), data.draw(st.integers(0, width))
    corner = data.draw(st.integers(0, height - h)), data.draw(st.integers(0, width - w))
    bits = data.draw(st.lists(st.booleans(), min_size=h * w, max_size=h * w))
    window = np.array(bits, bool).reshape(h, w)
    assert window_rles([window], [corner], (height, width)) == RLEs.from_masks(dense(window, corner, (height, width)))


def test_many_windows_of_different_sizes_come_in_order():
    windows = [np.ones((2, 3), bool), np.zeros((0, 4), bool), np.eye(3, dtype=bool)]
    corners = [(0, 0), (1, 0), (2, 1)]
    expected = np.concatenate([dense(w, c, (5, 4)) for w, c in zip(windows, corners)])
    np.testing.assert_array_equal(window_rles(windows, corners, (5, 4)).to_masks(), expected)


def test_no_window_gives_no_mask():
    assert len(window_rles([], np.zeros((0, 2), int), (5, 4))) == 0


@pytest.mark.parametrize(
    ("shape", "corner"),
    [
        ((2, 2), (-1, 0)),  # above the photo
        ((2, 2), (4, 0)),  # below
        ((2, 2), (0, 3)),  # to the right
        ((4,), (0, 0)),  # no window
    ],
)
def test_a_window_outside_of_the_photo_is_refused(shape, corner):
    with pytest.raises(ShapeError, match="window 0"):
        window_rles([np.ones(shape, bool)], [corner], (5, 4))


def test_corners_must_be_one_a_window():
    with pytest.raises(ShapeError, match="corners"):
        window_rles([np.ones((1, 1), bool)], np.zeros((2, 2), int), (5, 4))
