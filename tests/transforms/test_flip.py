"""Mirroring photos and boxes together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.errors import ShapeError
from cvzoo.transforms import flip, flip_bbox

IMG = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@given(st.booleans(), st.booleans())
def test_flipping_twice_gives_the_same(y_flip, x_flip):
    bbox = np.array([[0, 1, 2, 3], [0, 0, 3, 4]], np.float32)
    there = flip(IMG, y_flip=y_flip, x_flip=x_flip)
    np.testing.assert_array_equal(flip(there, y_flip=y_flip, x_flip=x_flip), IMG)
    there = flip_bbox(bbox, (3, 4), y_flip=y_flip, x_flip=x_flip)
    np.testing.assert_array_equal(flip_bbox(there, (3, 4), y_flip=y_flip, x_flip=x_flip), bbox)


@pytest.mark.parametrize(("y_flip", "x_flip"), [(False, False), (True, False), (False, True), (True, True)])
def test_a_box_keeps_what_it_holds(y_flip, x_flip):
    y_min, x_min, y_max, x_max = 1, 0, 3, 1
    bbox = flip_bbox([[y_min, x_min, y_max, x_max]], (3, 4), y_flip=y_flip, x_flip=x_flip)
    flipped = flip(IMG, y_flip=y_flip, x_flip=x_flip)
    a, b, c, d = bbox[0].astype(int)
    assert sorted(flipped[:, a:c, b:d].ravel()) == sorted(IMG[:, y_min:y_max, x_min:x_max].ravel())


def test_flips_give_new_arrays():
    assert not np.shares_memory(flip(IMG), IMG)
    assert flip(IMG, x_flip=True).flags.c_contiguous
    assert flip(IMG.astype(np.uint8), x_flip=True).dtype == np.uint8
    bbox = np.zeros((1, 4), np.float32)
    assert not np.shares_memory(flip_bbox(bbox, (3, 4)), bbox)
    assert flip_bbox(np.zeros((0, 4)), (3, 4), x_flip=True).shape == (0, 4)


def test_wrong_shapes_are_refused():
    with pytest.raises(ShapeError, match="img"):
        flip(IMG[0])
    with pytest.raises(ShapeError, match="bbox"):
        flip_bbox(np.zeros((1, 5)), (3, 4))
