"""Many photos in one picture."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import ShapeError
from cvzoo.visualizations.contact_sheet import contact_sheet


def plain(color, size=(30, 40)):
    return np.broadcast_to(np.array(color, np.float32)[:, None, None], (3, *size)).copy()


def test_every_photo_has_its_place():
    colors = [(255, 0, 0), (0, 255, 0), (0, 0, 255)]
    sheet = contact_sheet((plain(color) for color in colors), ["a", "b", "c"], columns=2, side=40)
    assert sheet.shape == (3, 2 * (40 + 19 + 8) + 8, 2 * 48 + 8)
    for (top, left), color in zip(((8, 8), (8, 56), (75, 8)), colors):
        assert tuple(sheet[:, top + 20, left + 20]) == color


def test_photos_of_any_size_fit_and_small_ones_stay_small():
    sheet = contact_sheet([plain((255, 0, 0), (500, 30)), plain((0, 255, 0), (4, 4))], ["", ""], columns=2, side=50)
    red = (sheet == np.array([255, 0, 0])[:, None, None]).all(axis=0)
    green = (sheet == np.array([0, 255, 0])[:, None, None]).all(axis=0)
    assert red.any(axis=1).sum() == 50
    assert green.sum() == 16


def test_grey_photos_and_long_captions_are_taken():
    sheet = contact_sheet([np.zeros((1, 10, 10), np.float32)], ["a very long name of a photo \n" * 20], side=60)
    assert sheet.shape == (3, 60 + 19 + 16, 76)


@pytest.mark.parametrize(("n", "captions"), [(0, []), (2, ["a"]), (1, ["a", "b"])])
def test_photos_and_captions_must_match(n, captions):
    with pytest.raises(ShapeError):
        contact_sheet([plain((0, 0, 0))] * n, captions)
