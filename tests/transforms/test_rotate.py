"""Turning photos, boxes, points, masks, label maps and turned boxes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.errors import ShapeError
from cvzoo.geometry.rle import RLEs
from cvzoo.transforms import (
    crop_mask,
    crop_rle,
    flip_mask,
    flip_point,
    flip_rbbox,
    flip_rle,
    quad_to_rbbox,
    random_rotate,
    rbbox_to_quad,
    resize_mask,
    resize_point,
    resize_rbbox,
    resize_rle,
    rotate,
    rotate_bbox,
    rotate_label_map,
    rotate_mask,
    rotate_point,
    rotate_rbbox,
    rotate_rle,
    rotated_size,
    translate_point,
    translate_rbbox,
)

IMG = np.random.default_rng(0).integers(0, 256, (3, 12, 20)).astype(np.uint8)
QUARTERS = [-90, 0, 90, 180, 270, 360, 450]


@pytest.mark.parametrize("angle", QUARTERS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.int64, bool])
def test_quarters_move_pixels_and_change_none(angle, dtype):
    img = IMG.astype(dtype)
    turned = rotate(img, angle)
    np.testing.assert_array_equal(turned, np.rot90(img, angle // 90, axes=(1, 2)))
    assert turned.dtype == dtype
    assert turned.flags.c_contiguous


@pytest.mark.parametrize("angle", QUARTERS)
def test_boxes_and_points_go_where_the_pixels_go(angle):
    marked = np.zeros((1, 12, 20), np.uint8)
    marked[0, 3:5, 8:14] = 1
    y, x = rotate(marked, angle)[0].nonzero()
    bbox = rotate_bbox(np.array([[3, 8, 5, 14]], np.float32), angle, (12, 20))
    assert bbox.tolist() == [[y.min(), x.min(), y.max() + 1, x.max() + 1]]
    assert bbox.dtype == np.float32
    point = rotate_point([[[4, 11]]], angle, (12, 20))
    assert point.tolist() == [[[(y.min() + y.max() + 1) / 2, (x.min() + x.max() + 1) / 2]]]


@given(st.floats(-200, 200), st.booleans())
def test_masks_and_points_turn_together(angle, expand):
    mask = np.zeros((1, 90, 120), bool)
    mask[0, 40:60, 50:60] = True
    turned = rotate_mask(mask, angle, expand=expand)
    assert turned.shape[1:] == rotated_size((90, 120), angle, expand=expand)
    y, x = turned[0].nonzero()
    middle = rotate_point([[50, 55]], angle, (90, 120), expand=expand)[0]
    np.testing.assert_allclose([y.mean() + 0.5, x.mean() + 0.5], middle, atol=0.6)
    box = rotate_bbox([[40, 50, 60, 60]], angle, (90, 120), expand=expand)[0]
    np.testing.assert_allclose([y.min(), x.min(), y.max() + 1, x.max() + 1], box, atol=1)


@given(st.floats(-720, 720))
def test_nothing_leaves_an_expanding_frame(angle):
    bbox = rotate_bbox([[0, 0, 12, 20]], angle, (12, 20))[0]
    height, width = rotated_size((12, 20), angle)
    assert bbox.min() > -0.51
    assert bbox[2] < height + 0.51
    assert bbox[3] < width + 0.51


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear", "bicubic"])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_what_comes_into_view_is_fill_and_the_rest_keeps_its_place(dtype, interpolation):
    img = np.stack([np.full((60, 60), value, dtype) for value in (10, 20, 30)])
    turned = rotate(img, 30, fill=(1, 2, 3), interpolation=interpolation)
    assert turned.dtype == dtype
    assert turned[:, 0, 0].tolist() == [1, 2, 3]
    assert turned[:, turned.shape[1] // 2, turned.shape[2] // 2].tolist() == [10, 20, 30]
    back = rotate(turned, -30, expand=False, interpolation=interpolation)
    middle = tuple(side // 2 for side in back.shape[1:])
    np.testing.assert_allclose(back[:, middle[0], middle[1]], [10, 20, 30], atol=1)


def test_positive_angles_are_counterclockwise():
    img = np.zeros((1, 41, 41), np.float32)
    img[0, 20, 35] = 255  # to the right of the middle
    y, x = np.unravel_index(rotate(img, 45, expand=False)[0].argmax(), (41, 41))
    assert y < 20 < x


def test_a_label_map_is_ignored_where_nothing_was():
    turned = rotate_label_map(np.full((30, 30), 4, np.int32), 45)
    assert set(np.unique(turned)) == {-1, 4}
    assert turned[0, 0] == -1


def test_random_rotate_tells_its_quarters():
    rng, seen = np.random.default_rng(0), set()
    for _ in range(40):
        turned, param = random_rotate(IMG, return_param=True, rng=rng)
        np.testing.assert_array_equal(turned, rotate(IMG, 90 * param["k"]))
        seen.add(param["k"])
    assert seen == {0, 1, 2, 3}


RBBOX = np.array([[30, 40, 10, 20, 0], [30, 40, 10, 20, 30], [20, 25, 6, 18, -40], [5, 6, 7, 7, 10]], np.float32)


def corners(quad):
    """The corners as a set, whatever comes first."""
    return sorted(tuple(np.round(corner, 2) + 0.0) for corner in np.asarray(quad, np.float64).tolist())


def same_boxes(rbbox_a, rbbox_b):
    for a, b in zip(rbbox_to_quad(rbbox_a), rbbox_to_quad(rbbox_b)):
        np.testing.assert_allclose(sorted(a.tolist()), sorted(b.tolist()), atol=0.02)


def test_turned_boxes_become_corners_and_come_back():
    quad = rbbox_to_quad(RBBOX)
    assert corners(quad[0]) == [(25, 30), (25, 50), (35, 30), (35, 50)]
    same_boxes(quad_to_rbbox(quad), RBBOX)
    # in any order of the corners, even crossed
    same_boxes(quad_to_rbbox(quad[:, [2, 0, 1, 3]]), RBBOX)


def test_the_smallest_box_holds_a_crooked_quadrilateral():
    quad = np.random.default_rng(0).uniform(0, 50, (50, 4, 2)).astype(np.float32)
    rbbox = quad_to_rbbox(quad)
    assert (np.abs(rbbox[:, 4]) <= 45).all()
    for box, points in zip(rbbox, quad):
        angle = np.radians(box[4])
        dy, dx = (points - box[:2]).T
        assert np.abs(np.cos(angle) * dy + np.sin(angle) * dx).max() <= box[2] / 2 + 1e-3
        assert np.abs(np.cos(angle) * dx - np.sin(angle) * dy).max() <= box[3] / 2 + 1e-3


@given(st.floats(-180, 180), st.booleans())
def test_turned_boxes_follow_the_photo_as_their_corners_do(angle, expand):
    quad, size = rbbox_to_quad(RBBOX), (60, 80)
    moves = [
        (flip_rbbox(RBBOX, size, x_flip=True), flip_point(quad, size, x_flip=True)),
        (flip_rbbox(RBBOX, size, y_flip=True), flip_point(quad, size, y_flip=True)),
        (translate_rbbox(RBBOX, y_offset=3, x_offset=-4), translate_point(quad, y_offset=3, x_offset=-4)),
        (resize_rbbox(RBBOX, size, (30, 40)), resize_point(quad, size, (30, 40))),
        (rotate_rbbox(RBBOX, angle, size, expand=expand), rotate_point(quad, angle, size, expand=expand)),
    ]
    for rbbox, expected in moves:
        for a, b in zip(rbbox_to_quad(rbbox), expected):
            distance = np.linalg.norm(a[:, None] - b, axis=2)
            assert distance.min(axis=0).max() < 0.02


def test_a_stretched_box_is_held_by_its_turned_box():
    rbbox = resize_rbbox(RBBOX, (60, 80), (60, 160))
    quad = resize_point(rbbox_to_quad(RBBOX), (60, 80), (60, 160))
    area = 2 * RBBOX[:, 2] * RBBOX[:, 3]
    assert (rbbox[:, 2] * rbbox[:, 3] >= area - 0.1).all()
    assert rbbox[0].tolist() == [30, 80, 10, 40, 0]
    assert rbbox.shape == (4, 5)
    assert np.isfinite(quad).all()


def test_rle_follows_as_masks_do():
    mask = np.random.default_rng(0).random((4, 13, 17)) > 0.5
    mask[3] = False
    rles = RLEs.from_masks(mask)
    window = {"y_slice": slice(-2, 9), "x_slice": slice(3, 17)}
    pairs = [
        (flip_rle(rles, x_flip=True), flip_mask(mask, x_flip=True)),
        (resize_rle(rles, (7, 30)), resize_mask(mask, (7, 30))),
        (crop_rle(rles, **window), crop_mask(mask, **window)),
        (rotate_rle(rles, 33), rotate_mask(mask, 33)),
    ]
    for got, expected in pairs:
        np.testing.assert_array_equal(got.to_masks(), expected)
    assert len(flip_rle(rles[:0], y_flip=True)) == 0


def test_wrong_shapes_are_refused():
    with pytest.raises(ShapeError, match="degrees"):
        flip_rbbox(np.zeros((1, 4)), (9, 9))
    with pytest.raises(ShapeError, match="four corners"):
        quad_to_rbbox(np.zeros((1, 5, 2)))
    with pytest.raises(ShapeError, match="point"):
        rotate_point(np.zeros((3, 3)), 10, (9, 9))
    assert rbbox_to_quad([]).shape == (0, 4, 2)
    assert quad_to_rbbox(np.zeros((0, 4, 2))).shape == (0, 5)
