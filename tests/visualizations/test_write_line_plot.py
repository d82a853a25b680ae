"""Curves in files."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.visualizations.svg.line_plot import Line
from cvzoo.visualizations.write_line_plot import write_line_plot

LINES = [Line(np.array([0, 1.0]), np.array([0, 1.0]), "up"), Line(np.array([0, 1.0]), np.array([1, 1.0]), None, True)]


def test_an_svg_stands_alone(tmp_path):
    path = tmp_path / "a.svg"
    write_line_plot(path, LINES, title="<T>", size=(200, 300))
    root = ET.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert (root.get("width"), root.get("height")) == ("300", "200")


def test_a_png_shows_the_curve_where_it_is(tmp_path):
    path = tmp_path / "a.png"
    write_line_plot(path, [LINES[0]._replace(name=None), LINES[1]], size=(158, 268))  # a frame of 100 x 200 pixels
    pixels = np.asarray(Image.open(path).convert("RGB")).astype(int)
    assert pixels.shape == (158, 268, 3)
    blue = np.abs(pixels - (0x2F, 0x6F, 0xB3)).sum(axis=2) < 60
    y, x = np.nonzero(blue[24:124, 50:250])
    assert len(x) > 100
    np.testing.assert_allclose(y, 100 - x / 2, atol=4)


def test_a_curve_with_gaps_and_points_alone_is_drawn(tmp_path):
    line = Line(np.array([0, 0.5, 0.6, 1.0]), np.array([0.5, np.nan, 0.5, np.nan]))
    write_line_plot(tmp_path / "a.png", [line])
    pixels = np.asarray(Image.open(tmp_path / "a.png").convert("RGB")).astype(int)
    assert (np.abs(pixels - (0x2F, 0x6F, 0xB3)).sum(axis=2) < 60).sum() > 8
    write_line_plot(tmp_path / "b.png", [])


def test_other_kinds_are_refused(tmp_path):
    with pytest.raises(ValueRangeError, match="no such kind of plot"):
        write_line_plot(tmp_path / "a.pdf", LINES)
    assert list(tmp_path.iterdir()) == []
