"""Cropping the middle."""

import numpy as np
import pytest

from cvzoo.errors import ShapeError
from cvzoo.transforms import center_crop

IMG = np.arange(35).reshape(1, 5, 7)


@pytest.mark.parametrize(
    ("size", "corner"),
    [((5, 7), (0, 0)), ((3, 3), (1, 2)), ((2, 2), (2, 2)), ((1, 1), (2, 3)), ((5, 1), (0, 3)), ((4, 4), (0, 2))],
)
def test_center_crop(size, corner):
    (y, x), (height, width) = corner, size
    cropped = center_crop(IMG, size)
    np.testing.assert_array_equal(cropped, IMG[:, y : y + height, x : x + width])
    assert cropped.flags.c_contiguous
    assert not np.shares_memory(cropped, IMG)


@pytest.mark.parametrize("size", [(6, 7), (5, 8)])
def test_a_photo_smaller_than_the_crop_is_refused(size):
    with pytest.raises(ShapeError, match="smaller than the crop"):
        center_crop(IMG, size)
