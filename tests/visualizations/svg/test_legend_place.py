import numpy as np

from cvzoo.visualizations.svg.legend_place import legend_place

FRAME = (40, 20, 340, 220)


def corner(points):
    x, y = legend_place(points, FRAME, ["main/loss", "a"])
    return ("left" if x < 150 else "right"), ("above" if y < 100 else "below")


def test_a_legend_stands_where_no_curve_is():
    falling = [(40, 20), (60, 200), (340, 215)]
    rising = [(40, 215), (200, 100), (340, 25)]
    assert corner([]) == ("left", "below")
    assert corner(rising) == ("right", "below")
    assert corner(falling) == ("right", "above")


def test_a_long_line_counts_where_it_passes():
    assert corner([(40, 215), (340, 215)]) != ("left", "below")


def test_a_legend_lies_within_the_frame():
    x, y = legend_place(np.zeros((0, 2)), FRAME, ["main/loss"] * 3)
    assert 40 < x < 340
    assert 20 < y < 220
