"""Anchors of a place and of a grid."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.anchors import cell_anchors, grid_anchors


def test_a_square_and_a_wide_anchor():
    cell = cell_anchors([16, 32], [1, 0.25])
    assert cell.dtype == np.float32
    np.testing.assert_array_equal(cell, [[-8, -8, 8, 8], [-16, -16, 16, 16], [-4, -16, 4, 16], [-8, -32, 8, 32]])


# x_min y_min x_max y_max of torchvision, of sizes x, int(x * 2^(1/3)), int(x * 2^(2/3))
@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((32, 40, 50), [(-23, -11), (-28, -14), (-35, -18), (-16, -16), (-20, -20), (-25, -25), (-11, -23)]),
        ((64, 80, 101), [(-45, -23), (-57, -28), (-71, -36), (-32, -32), (-40, -40), (-50, -50), (-23, -45)]),
    ],
)
def test_rounded_anchors_are_torchvisions(sizes, expected):
    cell = cell_anchors(sizes, (0.5, 1.0, 2.0), rounded=True)
    np.testing.assert_array_equal(cell[: len(expected), [1, 0]], expected)
    np.testing.assert_array_equal(cell[:, :2], -cell[:, 2:])


def test_all_of_torchvisions_cells(shared):
    import json

    golden = json.loads((shared / "reference" / "torchvision_golden.json").read_text())["anchors"]
    for sizes, expected in zip(golden["retinanet_sizes"], golden["retinanet_cell"]):
        cell = cell_anchors(sizes, (0.5, 1.0, 2.0), rounded=True)
        np.testing.assert_array_equal(cell[:, [1, 0, 3, 2]], expected)


@hypothesis.given(
    st.lists(st.floats(1, 500), min_size=1, max_size=4), st.lists(st.floats(0.05, 20), min_size=1, max_size=4)
)
def test_areas_and_ratios_are_as_asked(sizes, ratios):
    cell = cell_anchors(sizes, ratios)
    height, width = cell[:, 2] - cell[:, 0], cell[:, 3] - cell[:, 1]
    np.testing.assert_allclose(height / width, np.repeat(ratios, len(sizes)), rtol=1e-5)
    np.testing.assert_allclose(np.sqrt(height * width), np.tile(sizes, len(ratios)), rtol=1e-5)


def test_a_grid_goes_by_row_column_and_anchor():
    cell = np.array([[-1, -2, 1, 2], [-3, -3, 3, 3]], np.float32)
    anchor = grid_anchors(cell, (2, 3), (8, 10))
    assert anchor.shape == (12, 4)
    assert anchor.dtype == np.float32
    for i, (y, x, k) in enumerate((y, x, k) for y in range(2) for x in range(3) for k in range(2)):
        np.testing.assert_array_equal(anchor[i], cell[k] + [8 * y, 10 * x, 8 * y, 10 * x])


@pytest.mark.parametrize(("sizes", "ratios"), [([], [1]), ([1], []), ([0], [1]), ([1], [-1]), ([1], [float("nan")])])
def test_sizes_and_ratios_must_be_positive(sizes, ratios):
    with pytest.raises(ValueRangeError, match="positive"):
        cell_anchors(sizes, ratios)


def test_a_grid_wants_boxes_and_a_size():
    with pytest.raises(ShapeError):
        grid_anchors(np.zeros((4, 3), np.float32), (2, 2), (1, 1))
    with pytest.raises(ShapeError):
        grid_anchors(np.zeros((1, 4), np.float32), (2, 0), (1, 1))
