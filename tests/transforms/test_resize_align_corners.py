"""Darknet's resizing, against its definition written out pixel by pixel."""

import numpy as np
import pytest

from cvzoo.transforms import resize_align_corners

SIZES = [((4, 5), (7, 9)), ((7, 9), (4, 5)), ((3, 3), (3, 3)), ((1, 1), (3, 4)), ((5, 6), (1, 1)), ((1, 4), (2, 1))]


def plain(img, size):
    (old_h, old_w), (height, width) = img.shape[1:], size
    out = np.zeros((len(img), height, width))
    for y in range(height):
        for x in range(width):
            sy = y * (old_h - 1) / (height - 1) if height > 1 else old_h - 1
            sx = x * (old_w - 1) / (width - 1) if width > 1 else old_w - 1
            iy, ix = min(int(sy), old_h - 1), min(int(sx), old_w - 1)
            jy, jx = min(iy + 1, old_h - 1), min(ix + 1, old_w - 1)
            dy, dx = sy - iy, sx - ix
            upper = img[:, iy, ix] * (1 - dx) + img[:, iy, jx] * dx
            lower = img[:, jy, ix] * (1 - dx) + img[:, jy, jx] * dx
            out[:, y, x] = upper * (1 - dy) + lower * dy
    return out


@pytest.mark.parametrize(("old", "new"), SIZES)
def test_resize_align_corners_equals_its_definition(old, new):
    img = np.random.default_rng(0).uniform(0, 255, (3, *old))
    resized = resize_align_corners(img, new)
    assert resized.dtype == np.float32
    np.testing.assert_allclose(resized, plain(img, new), rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize("height", range(2, 400, 7))
def test_the_corners_stay_the_corners(height):
    img = np.random.default_rng(height).uniform(1, 255, (1, 577, 13)).astype(np.float32)
    resized = resize_align_corners(img, (height, 5))
    np.testing.assert_array_equal(resized[:, :: height - 1, ::4], img[:, ::576, ::12])


def test_the_same_size_gives_the_same_pixels_in_a_new_array():
    img = np.random.default_rng(0).uniform(0, 255, (3, 6, 7)).astype(np.float32)
    resized = resize_align_corners(img, (6, 7))
    np.testing.assert_array_equal(resized, img)
    assert not np.shares_memory(resized, img)
