import xml.etree.ElementTree as ET

import numpy as np
import pytest

from cvzoo.errors.exceptions import ShapeError
from cvzoo.visualizations.svg.bar_plot import bar_plot
from cvzoo.visualizations.svg.heat_map import heat_map
from cvzoo.visualizations.svg.line_plot import Line, line_plot
from cvzoo.visualizations.svg.number import coordinate, tick
from cvzoo.visualizations.svg.photo_overlay import OverlayBox, photo_overlay


def points(svg):
    return [
        [tuple(map(float, pair.split(","))) for pair in line.get("points").split()]
        for line in ET.fromstring(svg).iter("polyline")
    ]


@pytest.mark.parametrize(("value", "text"), [(12.0, "12"), (12.04, "12"), (12.55, "12.6"), (-0.5, "-0.5")])
def test_coordinates_are_short(value, text):
    assert coordinate(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.5, "0.5"), (20.0, "20"), (1e-5, "1e-05"), (1 / 3, "0.3333")])
def test_ticks_are_short(value, text):
    assert tick(value) == text


def test_a_line_goes_from_corner_to_corner_of_the_frame():
    ((first, last),) = points(line_plot([Line(np.array([0, 1]), np.array([0, 1]))], size=(156, 262)))
    assert first == (44, 122)  # left below: 156 - 34 of the axis' words
    assert last == (244, 22)


def test_a_gap_parts_a_line_and_what_lies_outside_is_cut():
    y = np.array([0.5, 2.0, np.nan, -1.0])
    svg = line_plot([Line(np.arange(4) / 3, y)], size=(156, 262))
    (run,) = points(svg)
    assert len(run) == 2
    assert run[1][1] == 22
    (dot,) = ET.fromstring(svg).iter("circle")  # a point alone
    assert (dot.get("cx"), dot.get("cy")) == ("244", "122")


def test_steps_hold_a_value_until_the_next_point():
    (run,) = points(line_plot([Line(np.array([0, 0.5, 1]), np.array([1, 0.5, 0]))], size=(156, 262), steps=True))
    assert run == [(44, 22), (144, 22), (144, 72), (244, 72), (244, 122)]


def test_lines_of_two_lengths_are_refused():
    with pytest.raises(ShapeError):
        line_plot([Line(np.zeros(2), np.zeros(3))])


def test_words_from_outside_are_escaped():
    evil = "<script>&\"'"
    pieces = (
        line_plot([Line(np.zeros(1), np.zeros(1), evil)], title=evil, x_label=evil, y_label=evil),
        bar_plot([evil], [1], texts=[evil], title=evil),
        heat_map([[1]], [evil], [evil], row_title=evil, column_title=evil),
        photo_overlay(np.zeros((3, 4, 4), np.float32), [OverlayBox((0, 0, 1, 1), evil, "red")]),
    )
    for svg in pieces:
        assert "<script" not in svg
        ET.fromstring(svg)


def test_bars_are_as_long_as_their_values():
    svg = ET.fromstring(bar_plot(["a", "b", "c", "d"], [0.5, 1.0, float("nan"), 0.0], width=320, name_width=130))
    assert [float(rect.get("width")) for rect in svg.iter("rect")] == [50, 100, 1, 1]


def test_bars_of_nothing_are_no_error():
    ET.fromstring(bar_plot([], []))
    ET.fromstring(bar_plot(["a"], [0]))
    with pytest.raises(ShapeError):
        bar_plot(["a"], [])


def test_cells_are_as_dark_as_their_share_of_the_row():
    svg = ET.fromstring(heat_map([[3, 1, 0], [0, 0, 0]], ["a", "b"], ["a", "b", "c"]))
    cells = [rect for rect in svg.iter("rect") if rect.get("fill-opacity")]
    assert [float(cell.get("fill-opacity")) for cell in cells] == pytest.approx([0.12 + 0.88 * 0.75, 0.34])
    assert cells[1].find("title").text == "a → b: 1 (25%)"
    assert cells[0].get("fill") != cells[1].get("fill")


def test_many_classes_get_small_cells_without_numbers():
    n = 100
    names = [f"class {i}" for i in range(n)]
    svg = heat_map(np.eye(n, dtype=int) * 7, names, names)
    assert ">7<" not in svg
    assert svg.count("fill-opacity") == n
    with pytest.raises(ShapeError):
        heat_map(np.eye(2), ["a"], ["a"])


def test_boxes_shrink_with_their_photo():
    svg = ET.fromstring(
        photo_overlay(
            np.zeros((3, 100, 200), np.float32), [OverlayBox((10, 20, 30, 60), "cat", "red", True)], long_side=100
        )
    )
    image, rect = svg.find("image"), svg.find("rect")
    assert (image.get("width"), image.get("height")) == ("100", "50")
    assert [rect.get(name) for name in ("x", "y", "width", "height")] == ["10", "5", "20", "10"]
    assert rect.get("stroke-dasharray")
    assert image.get("href").startswith("data:image/jpeg;base64,")


def test_words_over_many_boxes_come_with_the_mouse_only():
    img, box = np.zeros((1, 20, 20), np.float32), OverlayBox((1, 1, 5, 5), "cat", "red")
    assert photo_overlay(img, [box] * 3, most_words=3).count("<text") == 3
    crowded = photo_overlay(img, [box] * 4, most_words=3)
    assert crowded.count("<text") == 0
    assert crowded.count("<title>cat") == 4
