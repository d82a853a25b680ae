"""Colours differ, stay the same, and can be written on."""

import itertools

import pytest

from cvzoo.visualizations.colors import ink_on, label_color, luminance


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
