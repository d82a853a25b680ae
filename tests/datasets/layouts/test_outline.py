"""Several polygons as one line, and back."""

import numpy as np
import pytest

from cvzoo.datasets.layouts.outline import join_polygons, split_polygon
from cvzoo.geometry.polygons_to_rle import polygons_to_rle

A = (1.0, 1.0, 9.0, 1.0, 9.0, 8.0)
B = (20.0, 2.0, 30.0, 2.0, 30.0, 12.0, 20.0, 12.0)
C = (3.0, 20.0, 13.0, 20.0, 8.0, 30.0)


@pytest.mark.parametrize("polygons", [(A,), (A, B), (A, B, C), (C, B, A, (40.0, 3.0, 50.0, 4.0, 45.0, 20.0))])
def test_the_polygons_come_back(polygons):
    assert split_polygon(join_polygons(polygons)) == polygons


def test_the_line_covers_the_same_pixels():
    apart = polygons_to_rle([[list(A), list(B), list(C)]], (40, 60)).to_masks()
    together = polygons_to_rle([[list(join_polygons((A, B, C)))]], (40, 60)).to_masks()
    assert np.array_equal(apart, together)


def test_a_closed_polygon_loses_its_second_first_point_only():
    assert split_polygon(join_polygons(((*A, 1.0, 1.0), B))) == (A, B)


@pytest.mark.parametrize(
    "line",
    [
        A,
        (*A, 1.0, 1.0),
        (*A, 9.0, 1.0, 5.0, 5.0),
        (1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 5.0, 5.0, 6.0, 6.0, 7.0, 5.0, 5.0, 5.0),
        (*A, 1.0, 1.0, *B, 20.0, 2.0, 4.0, 4.0),
    ],
)
def test_other_lines_stay_one_polygon(line):
    assert split_polygon(line) == (line,)
