"""Boxes are drawn where they are, names are legible, nothing falls out of the photo."""

import numpy as np
import pytest

from cvzoo.errors import ShapeError, ValueRangeError
from cvzoo.visualizations import draw_bbox, label_color

GREY = np.full((3, 60, 80), 128, dtype=np.float32)


def changed(drawn, img):
    """(y_min, x_min, y_max, x_max) of all pixels that differ, half-open, or None."""
    y, x = np.nonzero((drawn != img).any(axis=0))
    return (y.min(), x.min(), y.max() + 1, x.max() + 1) if len(y) else None


def test_a_frame_covers_exactly_the_half_open_box():
    drawn = draw_bbox(GREY, [[10, 20, 40, 70]], line_width=1)
    assert changed(drawn, GREY) == (10, 20, 40, 70)
    color = np.array(label_color(0), dtype=np.float32)
    for y, x in ((10, 20), (10, 69), (39, 20), (39, 69), (10, 45)):
        np.testing.assert_array_equal(drawn[:, y, x], color)
    np.testing.assert_array_equal(drawn[:, 11:39, 21:69], GREY[:, 11:39, 21:69])


def test_drawing_gives_a_new_photo_of_whole_numbers():
    img = np.random.default_rng(0).uniform(0, 255, (3, 64, 64)).astype(np.float32)
    bbox, copy = np.array([[8, 8, 40, 40]], dtype=np.float32), img.copy()
    drawn = draw_bbox(img, bbox, np.array([1]), np.array([0.5]), label_names=("a", "b"))
    assert drawn.shape == img.shape
    assert drawn.dtype == np.float32
    assert drawn.flags.c_contiguous
    assert drawn.flags.writeable
    np.testing.assert_array_equal(drawn, np.rint(drawn))
    np.testing.assert_array_equal(img, copy)
    np.testing.assert_array_equal(bbox, [[8, 8, 40, 40]])


@pytest.mark.parametrize(
    "img", [GREY[:1], GREY.astype(np.uint8), GREY[0], GREY.astype(np.float64)], ids=["1HW", "uint8", "HW", "float64"]
)
def test_photos_of_every_kind_become_rgb(img):
    np.testing.assert_array_equal(draw_bbox(img, [[1, 2, 30, 40]]), draw_bbox(GREY, [[1, 2, 30, 40]]))


def test_no_boxes_leave_the_photo_as_it_is():
    empty = np.zeros((0, 4), np.float32), np.zeros(0, np.int32), np.zeros(0, np.float32)
    np.testing.assert_array_equal(draw_bbox(GREY, *empty, label_names=()), GREY)


@pytest.mark.parametrize(
    "bb",
    [
        [-50, -50, 500, 500],  # all around the photo
        [-9, 20, 30, 500],  # out at the top and at the right
        [20, 20, 20, 40],  # empty
        [40, 40, 20, 20],  # inverted
        [100, 100, 120, 120],  # outside
        [-1e30, 0, 1e30, 5],  # absurd
        [59.4, 79.4, 59.9, 79.9],  # less than a pixel
    ],
)
def test_boxes_that_do_not_fit_are_cut_and_never_fail(bb):
    drawn = draw_bbox(GREY, [bb], [0], [0.5], label_names=["thing"])
    assert drawn.shape == GREY.shape


@pytest.mark.parametrize("size", [(1, 1), (3, 200), (200, 3), (20, 20), (64, 64)])
def test_tiny_photos_take_long_names(size):
    img = np.zeros((3, *size), np.float32)
    bbox = np.array([[0, 0, *size]], np.float32)
    assert draw_bbox(img, bbox, [0], [0.5], label_names=["a very long name indeed, " * 4]).shape == img.shape


@pytest.mark.parametrize("bb", [[20, 20, 50, 60], [0, 0, 30, 30], [0, 60, 59, 80], [50, 0, 60, 80], [0, 70, 5, 80]])
def test_the_plate_is_whole_and_its_letters_are_legible(bb):
    """The plate is a rectangle of one colour and black or white ink, as large wherever the box is."""
    drawn = draw_bbox(GREY, [bb], [3], label_names="abcd", line_width=1, font_size=12)
    plain = draw_bbox(GREY, [bb], None, line_width=1)
    color = np.array(label_color(3), np.float32)[:, None, None]
    plate = (drawn == color).all(axis=0) & (plain == GREY).all(axis=0)
    assert plate.sum() > 60
    ink = np.array(drawn[:, plate.any(axis=1)][:, :, plate.any(axis=0)]).reshape(3, -1)
    assert ((ink.max(axis=0) < 60) | (ink.min(axis=0) > 230)).any()


def test_plates_of_boxes_in_one_place_do_not_cover_each_other():
    img = np.full((3, 400, 600), 128, dtype=np.float32)
    bbox = np.repeat([[150.0, 200.0, 300.0, 400.0]], 4, axis=0)
    label = np.arange(4)
    separate = [
        (draw_bbox(img, bbox[:1], [each], font_size=12, line_width=1) == _color(each)).all(axis=0).sum()
        for each in label
    ]
    together = draw_bbox(img, bbox, label, font_size=12, line_width=1)
    frame = 2 * (150 + 200) - 4
    for each, alone in zip(label, separate):
        assert (together == _color(each)).all(axis=0).sum() >= alone - frame


def _color(label):
    return np.array(label_color(label), np.float32)[:, None, None]


def test_the_best_score_lies_on_top():
    bbox = np.array([[10, 10, 50, 50]] * 2, np.float32)
    for score, top in (([0.9, 0.1], 0), ([0.1, 0.9], 1)):
        drawn = draw_bbox(GREY, bbox, [0, 1], score, line_width=1)
        np.testing.assert_array_equal(drawn[:, 30, 10], label_color(top))


def test_lines_and_letters_grow_with_the_photo():
    inked = []
    for factor in (2, 5):
        img = np.full((3, 300 * factor, 500 * factor), 128, dtype=np.float32)
        drawn = draw_bbox(img, np.array([[100, 200, 250, 400]]) * factor, [0], label_names=["dog"])
        inked.append((drawn != img).any(axis=0).mean())
    assert inked[1] == pytest.approx(inked[0], rel=0.3)


def test_wrong_arguments_are_refused():
    bbox = np.array([[1, 1, 9, 9]], np.float32)
    with pytest.raises(ShapeError, match="label must have one value per box"):
        draw_bbox(GREY, bbox, [1, 2])
    with pytest.raises(ShapeError, match="score must have one value per box"):
        draw_bbox(GREY, bbox, [1], [0.1, 0.2])
    with pytest.raises(ShapeError, match=r"\(R, 4\)"):
        draw_bbox(GREY, np.zeros((2, 5)))
    with pytest.raises(ShapeError, match="transpose"):
        draw_bbox(np.zeros((60, 80, 3)), bbox)
    with pytest.raises(ValueRangeError, match="has no name"):
        draw_bbox(GREY, bbox, [2], label_names=["a", "b"])
    with pytest.raises(ValueRangeError, match="negative"):
        draw_bbox(GREY, bbox, [-1], label_names=["a", "b"])
    with pytest.raises(ValueRangeError, match="NaN"):
        draw_bbox(GREY, bbox * np.nan)


def lines_of_text(n):
    """n boxes as of short lines of text, 12 pixels high."""
    y = np.arange(n, dtype=np.float32) % 25 * 30 + 5
    x = np.arange(n, dtype=np.float32) // 25 * 120 + 5
    return np.stack([y, x, y + 12, x + 40], axis=1)


@pytest.mark.parametrize(
    ("n", "plates", "written"), [(50, None, False), (50, True, True), (5, None, True), (5, False, False)]
)
def test_plates_that_would_hide_many_small_boxes_are_left_out(n, plates, written):
    img = np.full((3, 800, 600), 255, np.float32)
    bbox = lines_of_text(n)
    out = draw_bbox(img, bbox, np.zeros(n, int), np.ones(n), label_names=["text"], plates=plates)
    bare = draw_bbox(img, bbox)
    assert (not np.array_equal(out, bare)) == written
    if not written:
        # the middle of each box stays as it was
        assert (out[:, 11, 25] == 255).all()


def test_lines_around_small_boxes_are_thin():
    img = np.full((3, 1000, 1000), 255, np.float32)
    small, large = (draw_bbox(img, np.array([bb], np.float32)) for bb in ([100, 100, 114, 300], [100, 100, 400, 400]))
    assert (small[:, 101, 200] == 255).all()
    assert (large[:, 101, 200] != 255).any()


def test_boxes_have_the_colors_of_the_caller():
    drawn = draw_bbox(GREY, [[10, 20, 40, 70]], [1], line_width=1, colors={"b": "red"}, label_names=("a", "b"))
    np.testing.assert_array_equal(drawn[:, 39, 45], [255, 0, 0])
    drawn = draw_bbox(GREY, [[10, 20, 40, 70]], [1], line_width=1, colors=["red", (1, 2, 3)])
    np.testing.assert_array_equal(drawn[:, 39, 45], [1, 2, 3])


def test_texts_may_lack_labels_or_scores():
    arguments = GREY, [[20, 20, 50, 70]], [0], [0.5]
    both, neither = (draw_bbox(*arguments, show_labels=on, show_scores=on) for on in (True, False))
    label = draw_bbox(*arguments, show_scores=False)
    score = draw_bbox(*arguments, show_labels=False)
    assert changed(neither, GREY) == (20, 20, 50, 70)  # no text
    np.testing.assert_array_equal(neither, draw_bbox(*arguments, plates=False))
    np.testing.assert_array_equal(label, draw_bbox(*arguments[:3]))
    assert len({each.tobytes() for each in (both, label, score, neither)}) == 4


def test_lines_wider_than_the_image_take_no_longer_than_it():
    drawn = draw_bbox(GREY, [[10, 20, 40, 70]], line_width=10**12)
    np.testing.assert_array_equal(drawn, draw_bbox(GREY, [[10, 20, 40, 70]], line_width=80))
