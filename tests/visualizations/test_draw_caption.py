"""Lines of text above an image."""

import numpy as np
import pytest

from cvzoo.visualizations.draw_caption import draw_caption

IMG = np.random.default_rng(0).integers(0, 255, (3, 200, 300)).astype(np.float32)


def test_the_image_is_below_the_lines_and_unchanged():
    drawn = draw_caption(IMG, ["cat 0.750", "dog 0.250"])
    height = drawn.shape[1] - 200
    assert drawn.shape[2] == 300
    assert drawn.dtype == np.float32
    np.testing.assert_array_equal(drawn[:, height:], IMG)
    ink = (drawn[:, :height] < 128).all(axis=0).any(axis=1)
    assert ink[: height // 2].any()
    assert ink[height // 2 :].any()
    assert not ink[0]
    assert not ink[-1]


@pytest.mark.parametrize("img", [IMG[:, :32, :32], IMG[:1, :32, :32]])
def test_a_small_image_gets_as_wide_as_its_text(img):
    drawn = draw_caption(img, ["a long name of a class 0.750"])
    height, left = drawn.shape[1] - 32, (drawn.shape[2] - 32) // 2
    assert left > 32
    np.testing.assert_array_equal(drawn[:, height:, left : left + 32], np.broadcast_to(img, (3, 32, 32)))
    ink = (drawn[:, :height] < 128).all(axis=0).any(axis=0)
    assert not ink[0]
    assert not ink[-1]


def test_without_lines_the_image_stays_as_it_is():
    np.testing.assert_array_equal(draw_caption(IMG, []), IMG)


def test_unprintable_letters_are_question_marks():
    np.testing.assert_array_equal(draw_caption(IMG, ["a\nb"]), draw_caption(IMG, ["a?b"]))
