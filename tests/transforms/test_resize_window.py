"""A resized window has the bits of the window painted in full and then resized."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvzoo.errors import MissingExtraError, ShapeError
from cvzoo.transforms.crop import crop
from cvzoo.transforms.resize import resize
from cvzoo.transforms.resize_window import resize_window

FILL = (123, 117, 104)
NAMES = ("nearest", "bilinear", "bicubic", "lanczos", "box")


def photo(seed, dtype, size=(37, 53), *, pixels_together):
    img = np.random.default_rng(seed).integers(0, 256, (*size, 3)).astype(dtype).transpose(2, 0, 1)
    return img if pixels_together else np.ascontiguousarray(img)


def assert_is_the_resized_crop(img, y_slice, x_slice, size, interpolation, backend, fill=FILL):
    expected = resize(
        crop(img, y_slice=y_slice, x_slice=x_slice, fill=fill), size, interpolation=interpolation, backend=backend
    )
    got = resize_window(img, y_slice, x_slice, size, fill=fill, interpolation=interpolation, backend=backend)
    assert got.dtype == expected.dtype
    assert not np.shares_memory(got, img)
    np.testing.assert_array_equal(got, expected)


def windows():
    # within, beyond one side, beyond all, and past the photo
    sides = st.tuples(st.integers(-150, 60), st.integers(1, 260))
    return sides.map(lambda side: slice(side[0], side[0] + side[1]))


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 9),
    y_slice=windows(),
    x_slice=windows(),
    size=st.tuples(st.integers(1, 90), st.integers(1, 90)),
    interpolation=st.sampled_from(NAMES),
    dtype=st.sampled_from([np.uint8, np.float32, np.int32]),
    pixels_together=st.booleans(),
)
def test_pillows_bits_are_kept(seed, y_slice, x_slice, size, interpolation, dtype, pixels_together):
    img = photo(seed, dtype, pixels_together=pixels_together)
    assert_is_the_resized_crop(img, y_slice, x_slice, size, interpolation, "pillow")


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 9),
    y_slice=windows(),
    x_slice=windows(),
    size=st.tuples(st.integers(1, 90), st.integers(1, 90)),
    interpolation=st.sampled_from(NAMES),
    dtype=st.sampled_from([np.uint8, np.float32]),
    pixels_together=st.booleans(),
)
def test_opencvs_bits_are_kept(seed, y_slice, x_slice, size, interpolation, dtype, pixels_together):
    img = photo(seed, dtype, pixels_together=pixels_together)
    assert_is_the_resized_crop(img, y_slice, x_slice, size, interpolation, "opencv")


@pytest.mark.parametrize("backend", ["pillow", "opencv"])
@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_whole_steps_whose_kernels_end_on_pixels_keep_their_bits(backend, step):
    img = photo(0, np.uint8, pixels_together=True)
    for offset in range(-9, 0):
        sides = slice(offset, offset + 30 * step), slice(offset * 2, offset * 2 + 40 * step)
        assert_is_the_resized_crop(img, *sides, (30, 40), "bilinear", backend)


@pytest.mark.parametrize("n_channel", [1, 2, 4])
def test_other_numbers_of_channels_are_taken(n_channel):
    img = np.random.default_rng(0).integers(0, 256, (n_channel, 9, 9)).astype(np.uint8)
    assert_is_the_resized_crop(img, slice(-9, 20), slice(-3, 12), (7, 8), "bilinear", "pillow", fill=7)


def test_a_pillow_of_unknown_order_is_asked_for_the_whole(monkeypatch):
    monkeypatch.setattr("cvzoo.transforms.pillow_passes._rule", lambda: None)
    img = photo(0, np.uint8, pixels_together=True)
    assert_is_the_resized_crop(img, slice(-30, 70), slice(-9, 62), (20, 30), "bilinear", "pillow")


def test_bad_windows_and_fills_are_refused():
    img = photo(0, np.uint8, pixels_together=True)
    with pytest.raises(ShapeError, match="empty"):
        resize_window(img, slice(3, 3), slice(0, 9), (5, 5), fill=0)
    with pytest.raises(ShapeError, match="one per channel"):
        resize_window(img, slice(-3, 9), slice(0, 9), (5, 5), fill=(1, 2))


def test_without_opencv_the_command_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(MissingExtraError, match="pip install"):
        resize_window(
            photo(0, np.uint8, pixels_together=True), slice(-3, 9), slice(0, 9), (5, 5), fill=0, backend="opencv"
        )
