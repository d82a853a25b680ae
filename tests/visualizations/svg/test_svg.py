import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from cvzoo.errors.exceptions import ShapeError
from cvzoo.reporting.plot_figure import COLORS
from cvzoo.visualizations.svg.bar_plot import bar_plot
from cvzoo.visualizations.svg.heat_map import heat_map
from cvzoo.visualizations.svg.line_plot import Line, line_plot, small_multiples
from cvzoo.visualizations.svg.parallel_coordinates import Coordinate, parallel_coordinates
from cvzoo.visualizations.svg.photo_overlay import OverlayBox, photo_overlay

NUMBER = r"(-?[\d.]+(?:e-?\d+)?)"


def points(svg):
    """The curves as lists of (x, y) in pixels."""
    found = []
    for path in ET.fromstring(svg).iter("path"):
        if "stroke-linecap: square" in path.get("style") and f"stroke: {COLORS[0]}" in path.get("style"):
            pairs = re.findall(rf"[ML] ?{NUMBER} {NUMBER}", path.get("d"))
            found.append([(round(float(x), 3), round(float(y), 3)) for x, y in pairs])
    return found


def texts(svg):
    return ["".join(each.itertext()) for each in ET.fromstring(svg).iter("text")]


def areas(svg, color):
    """(x, y, width, height) of the rectangles filled with the color."""
    found = []
    for path in ET.fromstring(svg).iter("path"):
        if f"fill: {color}" in path.get("style", ""):
            x, y = np.array(re.findall(rf"[ML] {NUMBER} {NUMBER}", path.get("d")), float).T
            found.append((x.min(), y.min(), np.ptp(x), np.ptp(y)))
    return found


def test_a_line_goes_from_corner_to_corner_of_the_frame():
    svg = line_plot([Line(np.array([0, 1]), np.array([0, 1]))], size=(164, 268))
    assert points(svg) == [[(54, 126), (254, 26)]]  # left below: 164 - 38 of the axis' words


def test_a_gap_parts_a_line_and_a_point_alone_is_a_dot():
    y = np.array([0.5, 1, np.nan, 0])
    svg = line_plot([Line(np.arange(4) / 3, y)], size=(164, 268))
    (run,) = points(svg)
    assert run[:2] == [(54, 76), (120.667, 26)]
    assert svg.count("L 120.66") == 1  # and no line from there
    (dot,) = [each for each in ET.fromstring(svg).iter("use") if f"fill: {COLORS[0]}" in each.get("style")]
    assert (float(dot.get("x")), float(dot.get("y"))) == (254, 126)


def test_what_lies_outside_is_moved_to_the_edge():
    svg = line_plot([Line(np.array([-1, 0.5, 9]), np.array([0.5, 7, -np.inf]))], size=(164, 268))
    assert points(svg) == [[(54, 76), (154, 26), (254, 126)]]
    assert "clip-path" not in re.search(f"<path[^>]*{COLORS[0]}[^>]*>", svg)[0]  # half of the line would be missing


def test_steps_hold_a_value_until_the_next_point():
    (run,) = points(line_plot([Line(np.array([0, 0.5, 1]), np.array([1, 0.5, 0]))], size=(164, 268), steps=True))
    assert run == [(54, 26), (154, 26), (154, 76), (254, 76), (254, 126)]


def test_axes_without_a_range_show_all_points():
    svg = line_plot([Line(np.array([100.0, 900.0]), np.array([2e-5, 8e-5]))], x_range=None, y_range=None)
    (((left, low), (right, high)),) = points(svg)
    assert 54 < left < right < 286
    assert 26 < high < low < 182
    assert {"250", "750", "4e-05"} <= set(texts(svg))


def test_the_legend_names_lines_and_not_guides():
    guide = Line(np.zeros(2), np.zeros(2), "guide", True)
    assert "guide" not in texts(line_plot([guide]))
    assert "mine" in texts(line_plot([guide, Line(np.zeros(2), np.zeros(2), "mine")]))


def test_letters_and_axes_take_the_color_of_the_text_around():
    svg = line_plot([Line(np.zeros(2), np.zeros(2), "a", True)], title="t", x_label="x", y_label="y")
    colors = set(re.findall(r"(?:fill|stroke): ([^;\"]+)", svg))
    assert colors == {"none", "currentColor"}
    assert "system-ui" in svg
    assert "DejaVu" not in svg


def test_the_same_plot_has_the_same_bytes():
    plots = [
        bar_plot(["a"], [1]) + heat_map([[1, 2], [3, 4]], "ab", "cd") + line_plot([Line(np.arange(9), np.arange(9))])
        for _ in range(2)
    ]
    assert plots[0] == plots[1]
    assert 'id="figure' not in plots[0]
    assert "date" not in plots[0].lower()


def test_small_multiples_are_the_plots_of_each_curve():
    x = np.array([0, 0.25, 0.5, 0.75, 1])
    curves = {"falling": 1 - x, "a <b> & $c$": np.array([7, 0.5, np.nan, 0.25, 0.25])}
    axes = {"x_label": "recall", "y_label": "precision", "size": (164, 268)}
    guide = Line(np.array([0.0, 1.0]), np.array([1.0, 0.0]), is_guide=True)
    svgs = [f"{each}</svg>" for each in small_multiples(curves.items(), x, guides=[guide], **axes).split("</svg>")[:-1]]
    for (title, y), svg in zip(curves.items(), svgs, strict=True):
        one = line_plot([guide, Line(x, y)], title=title, **axes)
        assert texts(svg) == texts(one)
        assert points(svg) == points(one)
        assert ET.fromstring(svg).find("title").text == title
        assert svg.count("<path") == one.count("<path")


def test_small_multiples_leave_out_what_is_level_and_draw_a_point_alone():
    y = np.array([1, 1, 1, 0.5, 0.5, 0.5, np.nan, 0])
    svg = small_multiples([("", y)], np.array([0, 0.25, 0.5, 0.5, 0.6, 0.75, 0.8, 1]), size=(164, 268))
    assert '"M54 26L154 26L154 76L204 76M254 126h0"' in svg
    with pytest.raises(ShapeError):
        small_multiples([("", y)], np.zeros(3))


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
    svg = bar_plot(["a", "b", "c", "d"], [0.5, 1.0, float("nan"), 0.0], width=320, name_width=130)
    bars = areas(svg, COLORS[0])
    assert [round(width, 3) for _, _, width, _ in bars] == [50, 100, 1, 1]
    assert {round(x, 3) for x, *_ in bars} == {130}
    assert texts(svg) == ["a", "0.500", "b", "1.000", "c", "nan", "d", "0.000"]


def test_bars_of_nothing_are_no_error():
    ET.fromstring(bar_plot([], []))
    ET.fromstring(bar_plot(["a"], [0]))
    with pytest.raises(ShapeError):
        bar_plot(["a"], [])


def test_cells_are_as_dark_as_their_share_of_the_row():
    svg = heat_map([[3, 1, 0], [0, 0, 0]], ["a", "b"], ["a", "b", "c"])
    (right,), (wrong,) = areas(svg, COLORS[0]), areas(svg, COLORS[1])
    assert (wrong[0] - right[0], right[2], right[3]) == pytest.approx((34, 34, 34))
    opacities = re.findall(rf"fill: (?:{'|'.join(COLORS)}); (?:fill-)?opacity: ([\d.]+)", svg)
    assert [float(each) for each in opacities] == pytest.approx([0.12 + 0.88 * 0.75, 0.34])
    assert svg.count("<title>a → b: 1 (25%)</title>") == 2  # of the cell, and of the number on it


def test_many_classes_get_small_cells_without_numbers():
    n = 100
    names = [f"class {i}" for i in range(n)]
    svg = heat_map(np.eye(n, dtype=int) * 7, names, names)
    assert "7" not in texts(svg)
    assert len(areas(svg, COLORS[0])) == n
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


def test_the_first_item_with_the_highest_last_value_is_highlighted_and_missing_ones_are_dashed():
    axes = [
        Coordinate("lr", [0.001, 0.1, 0.01, 0.1], is_log=True),
        Coordinate("optimizer", ["sgd", None, "adam", "sgd"]),
        Coordinate("constant", [3, 3, 3, 3]),
        Coordinate("map", [0.2, np.nan, 0.7, 0.7]),
    ]
    svg = parallel_coordinates(axes, title="trials")
    words = texts(svg)
    for text in ("lr", "optimizer", "map", "sgd", "adam", "None", "0.001", "0.01", "0.1", "0.2", "0.7", "3", "trials"):
        assert text in words, text
    assert svg.count(COLORS[1]) == 1
    assert svg.count(COLORS[0]) == 2
    assert svg.count("stroke-dasharray") == 1
    assert svg == parallel_coordinates(axes, title="trials")


def test_few_values_are_the_ticks_of_their_axis():
    svg = parallel_coordinates([Coordinate("depth", [1, 2, 4, 2]), Coordinate("ap", [0.1, 0.101, 0.2, 0.5])])
    assert {"1", "2", "4", "0.1", "0.5"} <= set(texts(svg))
    assert not {"1.75", "3.25", "0.101"} & set(texts(svg))


def test_parallel_coordinates_of_different_lengths_are_refused():
    with pytest.raises(ShapeError):
        parallel_coordinates([Coordinate("a", [1, 2]), Coordinate("b", [1])])


@pytest.mark.parametrize("values", [[], [np.nan], [0.5]])
def test_few_items_or_none_are_no_error(values):
    assert "<svg" in parallel_coordinates([Coordinate("a", list(range(len(values)))), Coordinate("b", values)])
