"""Resizing is Pillow's, to the bit, or OpenCV's."""

import sys

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from cvzoo.errors import MissingExtraError, ShapeError, ValueRangeError
from cvzoo.transforms import resize

IMG = np.random.default_rng(0).integers(0, 256, (3, 31, 47)).astype(np.uint8)
NAMES = ["nearest", "bilinear", "bicubic", "lanczos", "box"]
SIZES = [(10, 20), (31, 20), (62, 94), (1, 1), (100, 5), (30, 46), (7, 300)]


@pytest.mark.parametrize("interpolation", NAMES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("memory", ["planes", "pixels"])
def test_uint8_has_the_bits_of_pillow(size, interpolation, memory):
    hwc = np.ascontiguousarray(IMG.transpose(1, 2, 0))
    pil = Image.fromarray(hwc).resize(size[::-1], Image.Resampling[interpolation.upper()])
    resized = resize(IMG if memory == "planes" else hwc.transpose(2, 0, 1), size, interpolation=interpolation)
    assert resized.dtype == np.uint8
    assert resized.shape == (3, *size)
    assert resized.flags.writeable
    np.testing.assert_array_equal(resized, np.asarray(pil).transpose(2, 0, 1))


@pytest.mark.parametrize("interpolation", NAMES)
@pytest.mark.parametrize("size", SIZES)
def test_float32_has_the_bits_of_pillow(size, interpolation):
    img = IMG.astype(np.float32) * np.float32(0.99)
    resized = resize(img, size, interpolation=interpolation)
    assert resized.dtype == np.float32
    for plane, result in zip(img, resized):
        pil = Image.fromarray(plane).resize(size[::-1], Image.Resampling[interpolation.upper()])
        np.testing.assert_array_equal(result, np.asarray(pil))


@given(st.integers(1, 700), st.integers(1, 700))
def test_nearest_takes_the_pixels_that_pillow_takes(old, new):
    row = np.arange(old, dtype=np.int32)[None]
    pil = Image.fromarray(row).resize((new, 1), Image.Resampling.NEAREST)
    np.testing.assert_array_equal(resize(row[None], (1, new), interpolation="nearest")[0], np.asarray(pil))


@pytest.mark.parametrize("constant", [Image.BILINEAR, Image.Resampling.BICUBIC, Image.NEAREST])
def test_constants_of_pillow_are_taken(constant):
    name = Image.Resampling(constant).name.lower()
    np.testing.assert_array_equal(resize(IMG, (9, 9), interpolation=constant), resize(IMG, (9, 9), interpolation=name))


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int32, np.int64, np.float32, np.float64])
def test_dtypes(dtype):
    img = (IMG > 90).astype(dtype)
    assert resize(img, (9, 9), interpolation="nearest").dtype == dtype
    assert resize(img, (9, 9)).dtype == (np.uint8 if dtype == np.uint8 else np.float32)
    assert resize(img, (31, 47)).dtype == resize(img, (9, 9)).dtype


@pytest.mark.parametrize("n_channel", [1, 2, 4, 5])
def test_other_numbers_of_channels_are_resized_band_by_band(n_channel):
    img = np.random.default_rng(0).integers(0, 256, (n_channel, 20, 30)).astype(np.uint8)
    for band, resized in zip(img, resize(img, (7, 9))):
        np.testing.assert_array_equal(resized, np.asarray(Image.fromarray(band).resize((9, 7), Image.BILINEAR)))


def test_without_opencv_its_backend_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(MissingExtraError, match="OpenCV is not installed"):
        resize(IMG, (9, 9), backend="opencv")


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("interpolation", NAMES)
def test_opencv_gives_its_own_bits(dtype, interpolation):
    number = {"nearest": 0, "bilinear": 1, "bicubic": 2, "box": 3, "lanczos": 4}[interpolation]
    img = IMG.astype(dtype)
    resized = resize(img, (10, 20), interpolation=interpolation, backend="opencv")
    assert resized.dtype == dtype
    expected = cv2.resize(np.ascontiguousarray(img.transpose(1, 2, 0)), (20, 10), interpolation=number)
    np.testing.assert_allclose(resized, expected.transpose(2, 0, 1), atol=0 if dtype == np.uint8 else 1e-3)


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
    with pytest.raises(ValueRangeError, match="opencv"):
        resize(IMG, (5, 5), backend="torch")
