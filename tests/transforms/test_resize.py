"""Resizing is Pillow's, in floats."""

import numpy as np
import pytest
from PIL import Image

from cvzoo.errors import ShapeError, ValueRangeError
from cvzoo.transforms import resize

# far enough from 0 and 255 that bicubic does not overshoot, where Pillow cuts 8-bit values between its two passes
IMG = np.random.default_rng(0).integers(60, 190, (3, 31, 47)).astype(np.uint8)


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear", "bicubic"])
@pytest.mark.parametrize("size", [(10, 20), (31, 20), (62, 94), (1, 1), (100, 5)])
def test_resize_agrees_with_pillow_to_the_rounding(size, interpolation):
    resized = resize(IMG, size, interpolation=interpolation)
    assert resized.shape == (3, *size)
    assert resized.dtype == np.float32
    pil = Image.fromarray(IMG.transpose(1, 2, 0)).resize(size[::-1], Image.Resampling[interpolation.upper()])
    # Pillow rounds after the columns and after the rows
    np.testing.assert_allclose(resized.clip(0, 255), np.asarray(pil).transpose(2, 0, 1), atol=1.6)


def test_shrinking_averages_what_it_covers():
    # a chessboard of single pixels turns grey: without antialias it would stay black or white
    board = np.indices((64, 64)).sum(axis=0)[None] % 2 * 255.0
    np.testing.assert_allclose(resize(board, (8, 8))[:, 1:-1, 1:-1], 127.5, atol=1)


def test_bilinear_enlarging_has_its_centres_at_halves():
    assert resize(np.array([[[0.0, 100.0]]]), (1, 4))[0, 0].tolist() == [0, 25, 75, 100]


def test_nearest_makes_no_new_values():
    img = np.random.default_rng(1).integers(-1, 5, (1, 20, 30))
    assert set(np.unique(resize(img, (7, 77), interpolation="nearest"))) <= set(range(-1, 5))


@pytest.mark.parametrize("size", [(31, 47), (5, 5)])
def test_resize_gives_a_new_contiguous_array(size):
    img = np.asfortranarray(IMG.astype(np.float32))
    resized = resize(img, size)
    assert resized.flags.c_contiguous
    assert not np.shares_memory(img, resized)


def test_one_and_many_channels_are_resized_alike():
    many = resize(np.concatenate([IMG] * 3), (9, 9))
    np.testing.assert_array_equal(many[3:4], resize(IMG[:1], (9, 9)))
    assert resize(np.zeros((0, 5, 5)), (9, 9)).shape == (0, 9, 9)


def test_wrong_arguments_are_refused():
    with pytest.raises(ShapeError, match=r"\(C, H, W\)"):
        resize(IMG[0], (5, 5))
    with pytest.raises(ShapeError, match="at least one pixel"):
        resize(np.zeros((3, 0, 5)), (5, 5))
    with pytest.raises(ShapeError, match="pair"):
        resize(IMG, 5)
    with pytest.raises(ValueRangeError, match="bilinear"):
        resize(IMG, (5, 5), interpolation="area")
