"""Key points as discs."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import ShapeError
from cvzoo.visualizations.colors import label_color
from cvzoo.visualizations.draw_point import draw_point


def test_points_lie_at_y_x_in_the_colour_of_their_number():
    img = np.full((3, 40, 60), 255, np.float32)
    out = draw_point(img, [[(10, 50), (30, 5)]])
    assert tuple(out[:, 10, 50]) == label_color(0)
    assert tuple(out[:, 30, 5]) == label_color(1)
    assert (img == 255).all()


def test_unmarked_points_are_not_drawn():
    img = np.full((3, 40, 60), 255, np.float32)
    out = draw_point(img, [[(10, 50), (np.nan, 5), (30, 5)]], [[False, True, True]])
    assert (out[:, :20] == 255).all()
    assert tuple(out[:, 30, 5]) == label_color(2)


@pytest.mark.parametrize(("point", "visible"), [([[1, 2]], None), ([[[1, 2, 3]]], None), ([[[1, 2]]], [[True, False]])])
def test_other_shapes_are_refused(point, visible):
    with pytest.raises(ShapeError):
        draw_point(np.zeros((3, 9, 9), np.float32), point, visible)
