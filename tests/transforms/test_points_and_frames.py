"""Points, translations, random flips and frames."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.errors import ShapeError, ValueRangeError
from cvzoo.transforms import (
    flip,
    flip_label_map,
    flip_point,
    random_flip,
    resize,
    resize_bbox,
    resize_contain,
    resize_label_map,
    resize_point,
    resize_with_random_interpolation,
    scale,
    translate_bbox,
    translate_point,
)

POINT = np.array([[[1, 2], [3.5, 0]], [[0, 0], [4, 6]]], np.float32)
IMG = np.random.default_rng(0).integers(0, 256, (3, 30, 40)).astype(np.uint8)


@pytest.mark.parametrize("point", [POINT, POINT[0]])
def test_points_follow_flips_and_moves(point):
    assert flip_point(point, (5, 7), y_flip=True).reshape(-1, 2)[0].tolist() == [4, 2]
    assert flip_point(point, (5, 7), x_flip=True).reshape(-1, 2)[0].tolist() == [1, 5]
    assert resize_point(point, (5, 7), (10, 70)).reshape(-1, 2)[0].tolist() == [2, 20]
    assert translate_point(point, y_offset=1, x_offset=-2).reshape(-1, 2)[0].tolist() == [2, 0]
    assert translate_point(point).shape == point.shape
    assert point.reshape(-1, 2)[0].tolist() == [1, 2]


def test_a_list_of_points_of_instances_gives_a_list():
    points = [np.array([[1, 2]], np.float32), np.array([[0, 0], [4, 6]], np.float32)]
    assert [each.tolist() for each in flip_point(points, (5, 7), y_flip=True)] == [[[4, 2]], [[5, 0], [1, 6]]]
    assert [each.tolist() for each in resize_point(points, (5, 7), (10, 7))] == [[[2, 2]], [[0, 0], [8, 6]]]
    assert [each.tolist() for each in translate_point(points, y_offset=1)] == [[[2, 2]], [[1, 0], [5, 6]]]


@given(st.booleans(), st.booleans())
def test_flipping_points_twice_gives_the_same(y_flip, x_flip):
    there = flip_point(POINT, (5, 7), y_flip=y_flip, x_flip=x_flip)
    np.testing.assert_array_equal(flip_point(there, (5, 7), y_flip=y_flip, x_flip=x_flip), POINT)


def test_boxes_move():
    assert translate_bbox([[0, 1, 2, 3]], y_offset=5, x_offset=-1).tolist() == [[5, 0, 7, 2]]
    assert translate_bbox(np.zeros((0, 4))).shape == (0, 4)


def test_random_flip_tells_what_it_did():
    rng, seen = np.random.default_rng(0), set()
    for _ in range(40):
        flipped, param = random_flip(IMG, y_random=True, x_random=True, return_param=True, rng=rng)
        np.testing.assert_array_equal(flipped, flip(IMG, **param))
        seen.add(tuple(param.values()))
    assert len(seen) == 4
    assert random_flip(IMG, return_param=True)[1] == {"y_flip": False, "x_flip": False}


@given(st.tuples(st.integers(1, 90), st.integers(1, 90)), st.tuples(st.integers(1, 60), st.integers(1, 60)))
def test_contained_photos_fit_and_never_grow(in_size, size):
    img = np.full((3, *in_size), 200, np.uint8)
    out, param = resize_contain(img, size, fill=(1, 2, 3), return_param=True)
    (height, width), y, x = param["scaled_size"], param["y_offset"], param["x_offset"]
    assert out.shape == (3, *size)
    assert out.dtype == np.uint8
    assert height <= min(in_size[0], size[0])
    assert width <= min(in_size[1], size[1])
    assert (out[:, y : y + height, x : x + width] == 200).all()
    assert (out[0] == 200).sum() == height * width
    bbox = translate_bbox(resize_bbox([[0, 0, *in_size]], in_size, (height, width)), y_offset=y, x_offset=x)
    np.testing.assert_allclose(bbox, [[y, x, y + height, x + width]], rtol=1e-6)


@pytest.mark.parametrize(
    ("in_size", "expected"),
    [
        ((375, 500), (312, 416)),
        ((333, 500), (277, 416)),
        ((500, 333), (416, 277)),
        ((416, 416), (416, 416)),
        ((9, 8), (9, 8)),
    ],
)
def test_contained_photos_lose_parts_of_pixels(in_size, expected):
    assert resize_contain(np.zeros((3, *in_size)), (416, 416), return_param=True)[1]["scaled_size"] == expected


def test_label_maps_keep_their_classes():
    label = np.random.default_rng(0).integers(-1, 4, (20, 30)).astype(np.int32)
    assert flip_label_map(label, x_flip=True).tolist() == label[:, ::-1].tolist()
    resized = resize_label_map(label, (33, 7))
    assert resized.shape == (33, 7)
    assert resized.dtype == np.int32
    assert set(np.unique(resized)) <= set(range(-1, 4))


def test_the_drawn_interpolation_is_the_one_used():
    rng, seen = np.random.default_rng(0), set()
    for _ in range(60):
        resized, param = resize_with_random_interpolation(IMG, (9, 11), return_param=True, rng=rng)
        np.testing.assert_array_equal(resized, resize(IMG, (9, 11), interpolation=param["interpolation"]))
        seen.add(param["interpolation"])
    assert len(seen) == 5


def test_scale_takes_one_number_as_well():
    assert scale(IMG, 15).shape == (3, 15, 20)
    assert scale(IMG, 20, fit_short=False).shape == (3, 15, 20)
    with pytest.raises(ValueRangeError, match="not both"):
        scale(IMG, 15, short=15)


def test_wrong_shapes_are_refused():
    for function in (lambda p: flip_point(p, (5, 7)), translate_point, lambda p: resize_point(p, (1, 1), (2, 2))):
        with pytest.raises(ShapeError, match="point must be"):
            function(np.zeros((2, 3)))
