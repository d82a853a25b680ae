"""Masks and label maps tint what they cover and nothing else."""

import numpy as np
import pytest

from cvzoo.errors import ShapeError
from cvzoo.geometry import RLEs
from cvzoo.visualizations import draw_label_map, draw_mask, label_color

IMG = np.full((3, 4, 5), 100, dtype=np.float32)


def test_a_mask_tints_its_pixels():
    mask = np.zeros((2, 4, 5), bool)
    mask[0, :2], mask[1, 1:3] = True, True
    drawn = draw_mask(IMG, mask, [7, 3], opacity=1)
    np.testing.assert_array_equal(drawn[:, 0, 0], label_color(7))
    np.testing.assert_array_equal(drawn[:, 1, 0], label_color(3))  # the later mask lies on top
    np.testing.assert_array_equal(drawn[:, 3], IMG[:, 3])
    half = draw_mask(IMG, mask, opacity=0.5)
    np.testing.assert_allclose(half[:, 0, 0], (100 + np.array(label_color(0))) / 2, atol=0.5)
    assert (IMG == 100).all()


def test_a_label_map_tints_all_but_ignored_pixels():
    label = np.array([[-1, 0, 1, 2, 2]] * 4, np.int32)
    drawn = draw_label_map(IMG, label, opacity=1)
    np.testing.assert_array_equal(drawn[:, :, 0], 100)
    for x in range(1, 5):
        np.testing.assert_array_equal(drawn[:, 0, x], label_color(label[0, x]))
    np.testing.assert_array_equal(draw_label_map(IMG, label * 0 - 1), IMG)


def test_sizes_must_match():
    with pytest.raises(ShapeError, match=r"\(R, H, W\)"):
        draw_mask(IMG, np.zeros((4, 5), bool))
    with pytest.raises(ShapeError, match="one value per mask"):
        draw_mask(IMG, np.zeros((2, 4, 5), bool), [1])
    with pytest.raises(ShapeError, match=r"\(H, W\)"):
        draw_label_map(IMG, np.zeros((5, 4), np.int32))


def test_run_lengths_are_drawn_as_dense_masks():
    img = np.random.default_rng(0).integers(0, 256, (3, 8, 9)).astype(np.float32)
    mask = np.random.default_rng(1).random((3, 8, 9)) < 0.4
    np.testing.assert_array_equal(draw_mask(img, RLEs.from_masks(mask), [2, 0, 1]), draw_mask(img, mask, [2, 0, 1]))
    with pytest.raises(ShapeError, match="size"):
        draw_mask(img, RLEs.from_masks(mask[:, :7]))


def test_tints_have_the_colors_of_the_caller():
    img, mask = np.zeros((3, 4, 6), np.float32), np.ones((1, 4, 6), bool)
    names = ("sky", "road")
    drawn = draw_mask(img, mask, [1], opacity=1, colors={"road": "red"}, label_names=names)
    np.testing.assert_array_equal(drawn[:, 0, 0], [255, 0, 0])
    drawn = draw_label_map(img, np.ones((4, 6), int), opacity=1, colors=["red", "#010203"])
    np.testing.assert_array_equal(drawn[:, 0, 0], [1, 2, 3])
