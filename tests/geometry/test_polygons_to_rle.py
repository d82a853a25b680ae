"""Masks of polygons against those that COCO's tool made, and against a walk along every edge."""

import itertools

import numpy as np
import pytest

from cvzoo.errors import ShapeError, ValueRangeError
from cvzoo.geometry import RLEs, merge_rles, polygons_to_rle

# on a photo of (10, 12), written by pycocotools 2.0.11
CASES = [
    ([1.2, 1.7, 7.9, 2.1, 6.3, 8.8, 2.5, 6.1], "<193M1O001O00LZ1"),
    ([-3.5, 2.0, 20.4, 5.5, 6.0, 14.2], "3461O2N00000001O00000000"),  # leaves the photo on three sides
    ([2.1, 2.1, 2.3, 2.1, 2.2, 2.3], "h3"),  # under a pixel
    ([0, 0, 12, 0, 12, 10, 0, 10], "0h3"),  # all of the photo
    ([3, 3, 3, 3, 8, 3, 8, 7], "[1191O1O1T1"),  # a vertex twice
    ([1, 1, 9, 9, 9, 1, 1, 9], ";74N2N2N10O2N2N2l0"),  # crosses itself
]


def walked(polygon, size):
    """The mask of a polygon by walking along its edges on the fine grid, a point at a time."""
    height, width = size
    points = [int(5 * value + 0.5) for value in polygon]
    corners = list(zip(points[0::2], points[1::2]))
    path = []
    for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1]):
        dx, dy = abs(x1 - x0), abs(y1 - y0)
        back = x0 > x1 if dx >= dy else y0 > y1
        if back:
            x0, y0, x1, y1 = x1, y1, x0, y0
        if dx >= dy:
            slope = (y1 - y0) / max(dx, 1)
            line = [(x0 + t, int(y0 + slope * t + 0.5)) for t in range(dx + 1)]
        else:
            slope = (x1 - x0) / dy
            line = [(int(x0 + slope * t + 0.5), y0 + t) for t in range(dy + 1)]
        path += line[::-1] if back else line
    flat = np.zeros(height * width + height + 1, bool)
    for (x0, y0), (x1, y1) in itertools.pairwise(path):
        column = (min(x0, x1) - 2) / 5
        if x0 != x1 and column.is_integer() and 0 <= column < width:
            row = int(np.ceil(np.clip((min(y0, y1) + 0.5) / 5 - 0.5, 0, height)))
            flat[int(column) * height + row :] ^= True
    return flat[: height * width].reshape(width, height).T


@pytest.mark.parametrize(("polygon", "text"), CASES)
def test_masks_are_those_of_pycocotools(polygon, text):
    assert polygons_to_rle([[polygon]], (10, 12)).to_strings() == [text]
    np.testing.assert_array_equal(walked(polygon, (10, 12)), RLEs.from_strings([text], [(10, 12)]).to_masks()[0])


def test_many_polygons_at_once_are_as_walked():
    rng = np.random.default_rng(0)
    polygons, sizes = [], []
    for n in range(300):
        size = rng.integers(1, 40, 2)
        xy = rng.uniform(-0.3, 1.3, (rng.integers(3, 9), 2)) * size[::-1]
        polygons.append([(np.round(xy * 5) / 5 if n % 3 == 0 else np.round(xy) if n % 3 == 1 else xy).ravel()])
        sizes.append(size)
    rles = polygons_to_rle(polygons, sizes)
    for r, ((polygon,), size) in enumerate(zip(polygons, sizes)):
        np.testing.assert_array_equal(rles[r].to_masks()[0], walked(polygon.tolist(), size.tolist()))


def test_an_object_of_several_polygons_is_their_union():
    parts = [case[0] for case in CASES]
    apart = polygons_to_rle([[part] for part in parts], (10, 12))
    assert polygons_to_rle([parts, parts[:2]], (10, 12)) == RLEs.concatenate([merge_rles(apart), merge_rles(apart[:2])])


def test_no_objects_have_no_masks():
    assert len(polygons_to_rle([], (10, 12))) == 0


@pytest.mark.parametrize(
    ("polygons", "error", "words"),
    [
        ([[CASES[0][0]], []], ShapeError, "object 1 has no polygon"),
        ([[CASES[0][0], [1, 2, 3, 4]]], ShapeError, "object 0 .* three points"),
        ([[[1, 2, 3, 4, 5, 6, 7]]], ShapeError, "object 0 .* three points"),
        ([[[[1, 2], [3, 4], [5, 6]]]], ShapeError, "object 0 .* flat"),
        ([[["a", "b"]]], ShapeError, "object 0 .* numbers"),
        ([[CASES[0][0]], [[1, 2, 3, 4, 5, np.nan]]], ValueRangeError, "object 1 has a vertex"),
        ([[[1, 2, 3, 4, 5, 1e20]]], ValueRangeError, "object 0 has a vertex"),
    ],
)
def test_what_is_no_polygon_is_named_with_its_object(polygons, error, words):
    with pytest.raises(error, match=words):
        polygons_to_rle(polygons, (10, 12))
