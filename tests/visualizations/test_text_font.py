"""Letters beyond ASCII are drawn as themselves."""

import importlib.util

import numpy as np
import pytest
from PIL import ImageFont

from cvzoo.visualizations.contact_sheet import contact_sheet
from cvzoo.visualizations.draw_bbox import draw_bbox
from cvzoo.visualizations.draw_caption import draw_caption
from cvzoo.visualizations.text_font import text_font

GREY = np.full((3, 80, 120), 128, np.float32)


def boxed(name):
    return draw_bbox(GREY, [[30, 10, 70, 100]], [0], label_names=[name])


def captioned(name):
    return draw_caption(GREY, [name])


def on_a_sheet(name):
    return contact_sheet([GREY], [name], side=120)


@pytest.mark.parametrize("drawn", [boxed, captioned, on_a_sheet])
def test_two_names_of_other_letters_do_not_look_the_same(drawn):
    pictures = [drawn(name) for name in ("ЖЖЖ", "ШШШ", "ЩЩЩ", "ééé", "èèè")]
    for i, picture in enumerate(pictures):
        for other in pictures[:i]:
            assert picture.shape != other.shape or (picture != other).any()


@pytest.mark.parametrize("letter", "éßęǆΩЖწշשش")
def test_letters_of_many_alphabets_are_in_the_font(letter):
    font = text_font(20, [letter])
    assert bytes(font.getmask(letter)) != bytes(font.getmask("\uffff"))


def test_names_in_ascii_are_written_in_pillows_font_alone():
    assert text_font(20, ["cat", "dog 0.75"]).getname() == ImageFont.load_default(20).getname()
    assert text_font(20, ["cat", "Kühe"]).getname() == ("DejaVu Sans", "Book")


def test_without_matplotlib_names_are_still_drawn(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert text_font(20, ["Kühe"]).getname() == ImageFont.load_default(20).getname()


def test_an_accent_on_a_capital_is_within_the_label_background():
    drawn = [draw_bbox(GREY, [[60, 10, 80, 110]], [0], label_names=[name], colors=["white"]) for name in ("ÉÉ", "EÉ")]
    rows = np.nonzero((drawn[0] != drawn[1]).any(axis=(0, 2)))[0]  # those of the accent
    above = (drawn[0][:, : rows[0]] != GREY[:, : rows[0]]).any()
    assert len(rows) > 0
    assert above
