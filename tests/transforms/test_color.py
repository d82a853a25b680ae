"""Colours: against the standard library's HSV, Pillow's enhancers, and their own definitions."""

import colorsys
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageEnhance

from cvzoo.errors import DtypeError, MissingExtraError, ShapeError, ValueRangeError
from cvzoo.transforms import (
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    adjust_saturation,
    color_jitter,
    pca_lighting,
    random_distort,
    random_erasing,
)

RNG = np.random.default_rng(0)
IMG = RNG.integers(0, 256, (3, 20, 30)).astype(np.uint8)
IMG[:, 0, :4] = [[0, 255, 7, 9]] * 3  # greys, black and white
ENHANCERS = [
    (adjust_brightness, ImageEnhance.Brightness),
    (adjust_contrast, ImageEnhance.Contrast),
    (adjust_saturation, ImageEnhance.Color),
]


@pytest.mark.parametrize(("function", "enhancer"), ENHANCERS)
@pytest.mark.parametrize("factor", [0.0, 0.4, 1.0, 1.7])
def test_factors_mean_what_pillow_means(function, enhancer, factor):
    pil = enhancer(Image.fromarray(IMG.transpose(1, 2, 0).copy())).enhance(factor)
    # Pillow truncates and rounds its grey; we round once
    np.testing.assert_allclose(function(IMG, factor).astype(int), np.asarray(pil).transpose(2, 0, 1), atol=1.01)


@given(st.floats(-0.5, 0.5))
def test_hue_is_that_of_the_standard_library(shift):
    got = adjust_hue(IMG.astype(np.float32), shift)
    for y, x in ((0, 0), (0, 1), (0, 2), (3, 4), (5, 6), (7, 8), (9, 10)):
        hue, saturation, value = colorsys.rgb_to_hsv(*(IMG[:, y, x] / 255))
        expected = np.array(colorsys.hsv_to_rgb((hue + shift) % 1, saturation, value)) * 255
        np.testing.assert_allclose(got[:, y, x], expected, atol=0.01)


def test_a_third_of_a_turn_makes_red_green():
    red = np.array([255, 0, 0], np.uint8)[:, None, None]
    assert adjust_hue(red, 1 / 3).ravel().tolist() == [0, 255, 0]
    assert adjust_hue(red, -1 / 3).ravel().tolist() == [0, 0, 255]


@pytest.mark.parametrize("value", [0, 128, 255])
def test_grey_has_no_hue_and_no_saturation(value):
    img = np.full((3, 4, 4), value, np.uint8)
    for gray in (img, img[:1]):
        np.testing.assert_array_equal(adjust_hue(gray, 0.3), gray)
        np.testing.assert_array_equal(adjust_saturation(gray, 1.9), gray)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
@pytest.mark.parametrize("function", [color_jitter, random_distort])
def test_dtype_and_range_are_kept_whatever_is_drawn(function, dtype):
    settings = {"brightness": 0.9, "contrast": 0.9, "saturation": 0.9, "hue": 0.5} if function is color_jitter else {}
    img = IMG.astype(dtype)
    for seed in range(40):
        got = function(img, rng=np.random.default_rng(seed), **settings)
        assert got.dtype == dtype
        assert got.shape == img.shape
        assert got.min() >= -1e-4
        assert got.max() <= 255 + 1e-4
    np.testing.assert_array_equal(img, IMG)


def test_float_and_uint8_differ_by_the_rounding():
    settings = {"brightness": 0.3, "contrast": 0.3, "saturation": 0.3, "hue": 0.1}
    for seed in range(10):
        a = color_jitter(IMG, rng=np.random.default_rng(seed), **settings)
        b = color_jitter(IMG, rng=np.random.default_rng(seed), dtype=np.float32, **settings)
        assert b.dtype == np.float32
        np.testing.assert_array_equal(a, np.rint(b))


def test_jitter_tells_what_it_drew():
    got, param = color_jitter(IMG, brightness=(0.5, 0.5), hue=0.1, return_param=True, rng=np.random.default_rng(3))
    assert sorted(param) == ["brightness", "hue", "order"]
    assert param["brightness"] == 0.5
    assert -0.1 <= param["hue"] <= 0.1
    expected = IMG.astype(np.float32)
    for name in param["order"]:
        expected = adjust_brightness(expected, 0.5) if name == "brightness" else adjust_hue(expected, param["hue"])
    np.testing.assert_array_equal(got, np.rint(expected))
    np.testing.assert_array_equal(color_jitter(IMG), IMG)


def test_jitter_draws_all_orders():
    rng = np.random.default_rng(0)
    drawn = [color_jitter(IMG, brightness=0.1, contrast=0.1, saturation=0.1, return_param=True, rng=rng)[1]["order"]]
    for _ in range(100):
        drawn.append(
            color_jitter(IMG[:, :2, :2], brightness=0.1, contrast=0.1, saturation=0.1, return_param=True, rng=rng)[1][
                "order"
            ]
        )
    assert len(set(drawn)) == 6


def test_distortion_equals_its_definition_pixel_by_pixel():
    def clip(values):
        return np.clip(values, 0, 255)

    for seed in range(20):
        got, param = random_distort(IMG.astype(np.float32), return_param=True, rng=np.random.default_rng(seed))
        for y, x in ((0, 0), (1, 2), (3, 5), (8, 13)):
            rgb = clip(IMG[:, y, x] + (param["brightness"] or 0.0))
            contrast = param["contrast"] or 1.0
            if param["contrast_first"]:
                rgb = clip(rgb * contrast)
            hue, saturation, value = colorsys.rgb_to_hsv(*(rgb / 255))
            saturation = min(saturation * (param["saturation"] or 1.0), 1)
            rgb = np.array(colorsys.hsv_to_rgb((hue + (param["hue"] or 0) / 180) % 1, saturation, value)) * 255
            if not param["contrast_first"]:
                rgb = clip(rgb * contrast)
            np.testing.assert_allclose(got[:, y, x], rgb, atol=0.02)


def test_distortion_draws_each_change_every_other_time():
    rng = np.random.default_rng(0)
    params = [random_distort(IMG[:, :2, :2], return_param=True, rng=rng)[1] for _ in range(400)]
    for name in ("brightness", "contrast", "saturation", "hue"):
        assert 150 < sum(param[name] is not None for param in params) < 250
    assert all(abs(param["hue"] or 0) <= 18 for param in params)


def test_lighting_adds_one_colour():
    img = IMG.astype(np.float32)
    lit, param = pca_lighting(img, 25.5, return_param=True, rng=np.random.default_rng(0))
    np.testing.assert_allclose(lit - img, np.broadcast_to(param["color"][:, None, None], img.shape), atol=1e-3)
    assert np.abs(param["color"]).max() > 0.1
    colors = [
        pca_lighting(img, 25.5, return_param=True, rng=np.random.default_rng(seed))[1]["color"] for seed in range(99)
    ]
    # a tenth of the range along the first axis: 25.5 * 0.2175 * 0.58 in each channel
    np.testing.assert_allclose(np.std(colors, axis=0), 3.2, atol=0.5)
    np.testing.assert_array_equal(pca_lighting(img, 0), img)
    assert pca_lighting(IMG, 5.0).dtype == np.uint8
    own = pca_lighting(img, 1, eigen_value=(1, 0, 0), eigen_vector=np.eye(3)) - img
    assert (own[1:] == 0).all()
    with pytest.raises(ShapeError, match="color noise"):
        pca_lighting(IMG[:1], 25.5)


def test_erasing_covers_one_rectangle():
    for seed in range(20):
        erased, param = random_erasing(IMG, prob=1, fill=(1, 2, 3), return_param=True, rng=np.random.default_rng(seed))
        expected = IMG.copy()
        expected[:, param["y_slice"], param["x_slice"]] = np.array([1, 2, 3])[:, None, None]
        np.testing.assert_array_equal(erased, expected)
        area = (erased != IMG).any(axis=0).mean()
        assert 0 < area <= 0.41


def test_erasing_with_noise_can_be_repeated_and_may_not_happen():
    a, b = (random_erasing(IMG, prob=1, rng=np.random.default_rng(1)) for _ in range(2))
    np.testing.assert_array_equal(a, b)
    assert (a != IMG).any()
    unchanged, param = random_erasing(IMG, prob=0, return_param=True)
    np.testing.assert_array_equal(unchanged, IMG)
    assert param["y_slice"] is None


def test_bad_arguments_are_refused():
    with pytest.raises(ValueRangeError, match="hue"):
        color_jitter(IMG, hue=0.6)
    with pytest.raises(ValueRangeError, match="contrast"):
        color_jitter(IMG, contrast=(2, 1))
    with pytest.raises(ShapeError, match="RGB"):
        adjust_hue(IMG[:2], 0.1)
    with pytest.raises(ValueRangeError, match="aspect"):
        random_erasing(IMG, aspect_ratio_range=(2, 1))


@pytest.mark.parametrize("function", [color_jitter, random_distort])
def test_opencv_agrees_to_its_rounding(function):
    ranges = {"brightness": 0.3, "contrast": 0.3, "saturation": 0.3, "hue": 0.1} if function is color_jitter else {}
    # smooth, for hues of nearly grey pixels are lost in 8 bits
    smooth = np.linspace(40, 200, 600).reshape(20, 30)
    img = np.stack([smooth, smooth.T.reshape(20, 30), 240 - smooth]).astype(np.uint8)
    for seed in range(20):
        a, b = (
            function(img, rng=np.random.default_rng(seed), backend=backend, **ranges).astype(float)
            for backend in ("numpy", "opencv")
        )
        assert np.abs(a - b).mean() < 2
        assert np.abs(a - b).max() < 12
    got = function(img, dtype=np.float32, backend="opencv", **ranges)
    assert got.dtype == np.float32
    assert got.flags.c_contiguous


@pytest.mark.parametrize("function", [color_jitter, random_distort])
def test_opencv_refuses_what_it_does_not_know(function, monkeypatch):
    with pytest.raises(DtypeError, match="uint8 RGB"):
        function(IMG.astype(np.float32), backend="opencv")
    with pytest.raises(ValueRangeError, match="numpy, opencv"):
        function(IMG, backend="pillow")
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(MissingExtraError, match="OpenCV is not installed"):
        function(IMG, backend="opencv")
