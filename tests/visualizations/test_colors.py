"""Colours differ, stay the same, and can be written on."""

import itertools

import pytest

from cvzoo.errors import ValueRangeError
from cvzoo.visualizations.colors import as_rgb, class_color, ink_on, label_color, luminance


def test_eighty_labels_have_eighty_colours():
    assert len({label_color(label) for label in range(80)}) == 80


def test_the_first_twelve_colours_are_far_apart():
    colors = [label_color(label) for label in range(12)]
    for a, b in itertools.combinations(colors, 2):
        assert sum(abs(x - y) for x, y in zip(a, b)) > 60


def test_colours_stay_the_same_from_version_to_version():
    assert [label_color(label) for label in range(3)] == [(242, 61, 36), (89, 118, 255), (94, 191, 10)]


@pytest.mark.parametrize("label", range(100))
def test_the_ink_has_the_contrast_that_wcag_asks_of_text(label):
    color = label_color(label)
    light, dark = sorted([luminance(color), luminance(ink_on(color))], reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_luminance_runs_from_black_to_white():
    assert luminance((0, 0, 0)) == 0
    assert luminance((255, 255, 255)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("color", "rgb"),
    [("red", (255, 0, 0)), ("#0f8", (0, 255, 136)), ("#01020380", (1, 2, 3)), ((1, 2.6, 3), (1, 3, 3))],
)
def test_a_color_is_a_name_hexadecimal_or_three_numbers(color, rgb):
    assert as_rgb(color) == rgb


@pytest.mark.parametrize("color", ["rot", "#12", (1, 2), (1, 2, 300), ""])
def test_what_is_no_color_is_refused(color):
    with pytest.raises(ValueRangeError, match="color"):
        as_rgb(color)


def test_colors_of_classes_are_a_palette_or_by_name():
    palette = class_color(["red", "lime"], None)
    assert [palette(label) for label in range(3)] == [(255, 0, 0), (0, 255, 0), (255, 0, 0)]
    by_name = class_color({"dog": "red"}, ("cat", "dog"))
    assert (by_name(0), by_name(1)) == (label_color(0), (255, 0, 0))
    assert class_color({"1": "red"}, None)(1) == (255, 0, 0)
    assert class_color(None, None)(7) == label_color(7)
    with pytest.raises(ValueRangeError, match="did you mean dog"):
        class_color({"dgo": "red"}, ("cat", "dog"))
    for wrong in ([], {}, "red"):
        with pytest.raises(ValueRangeError, match="colors must be"):
            class_color(wrong, None)
