"""Crops that are drawn: they stay within the photo, and tell what they drew."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.config import set_seed
from cvzoo.errors import DtypeError, ShapeError, ValueRangeError
from cvzoo.geometry import bbox_iou
from cvzoo.transforms import (
    center_crop,
    random_crop,
    random_crop_with_bbox_constraints,
    random_expand,
    random_sized_crop,
    ten_crop,
)

IMG = np.random.default_rng(0).integers(0, 256, (3, 40, 60)).astype(np.uint8)
SEEDS = st.integers(0, 10**6)


@given(SEEDS)
def test_what_is_cut_is_where_the_slices_say(seed):
    for function, arguments in ((random_crop, ((17, 23),)), (random_sized_crop, ()), (center_crop, ((17, 23),))):
        rng = {} if function is center_crop else {"rng": np.random.default_rng(seed)}
        cropped, param = function(IMG, *arguments, return_param=True, **rng)
        np.testing.assert_array_equal(cropped, IMG[:, param["y_slice"], param["x_slice"]])
        assert cropped.flags.c_contiguous
        for side, length in zip((param["y_slice"], param["x_slice"]), IMG.shape[1:]):
            assert 0 <= side.start < side.stop <= length


def test_every_place_is_reached():
    rng = np.random.default_rng(0)
    places = {random_crop(IMG[:, :4, :5], (2, 3), rng=rng, return_param=True)[1]["y_slice"].start for _ in range(99)}
    assert places == {0, 1, 2}


def test_sized_crops_have_area_and_proportions_of_their_ranges():
    img, rng = np.zeros((1, 500, 700), np.uint8), np.random.default_rng(0)
    for _ in range(200):
        cropped, param = random_sized_crop(img, return_param=True, rng=rng)
        _, height, width = cropped.shape
        assert 0.075 < height * width / 350000 <= 1
        assert abs(height / width - param["aspect_ratio"]) < 0.02
        assert 0.74 < width / height < 1.36
        assert abs(height * width / 350000 - param["scale_ratio"]) < 0.01


@given(SEEDS)
def test_a_crop_that_never_fits_keeps_its_proportions(seed):
    img = np.zeros((1, 200, 9000), np.uint8)
    rng = np.random.default_rng(seed)
    cropped, param = random_sized_crop(img, scale_ratio_range=(0.9, 1), return_param=True, rng=rng)
    _, height, width = cropped.shape
    assert 0.74 < height / width < 1.36
    assert abs(height / width - param["aspect_ratio"]) < 0.02
    assert abs(height * width / img.size - param["scale_ratio"]) < 0.001


def test_a_photo_of_a_line_is_cropped():
    assert random_sized_crop(np.zeros((1, 1, 2000))).shape[1:] == (1, 1)


@given(SEEDS)
def test_expanded_photos_hold_the_photo(seed):
    img, param = random_expand(IMG, fill=(1, 2, 3), return_param=True, rng=np.random.default_rng(seed))
    assert img.shape == (3, int(40 * param["ratio"]), int(60 * param["ratio"]))
    y, x = param["y_offset"], param["x_offset"]
    np.testing.assert_array_equal(img[:, y : y + 40, x : x + 60], IMG)
    rest = img.astype(int)
    rest[:, y : y + 40, x : x + 60] = 0
    assert rest.sum() == 6 * (img[0].size - 2400)


@given(SEEDS)
def test_constrained_crops_obey_their_constraint(seed):
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 30, (3, 2))
    bbox = np.concatenate([low, low + rng.uniform(3, 10, (3, 2))], axis=1).astype(np.float32)
    cropped, param = random_crop_with_bbox_constraints(IMG, bbox, return_param=True, rng=rng)
    y_slice, x_slice = param["y_slice"], param["x_slice"]
    np.testing.assert_array_equal(cropped, IMG[:, y_slice, x_slice])
    assert 0 <= y_slice.start < y_slice.stop <= 40
    assert 0 <= x_slice.start < x_slice.stop <= 60
    if param["constraint"] is None:
        assert cropped.shape == IMG.shape
        assert param["scale"] == param["aspect_ratio"] == 1
        return
    root = param["aspect_ratio"] ** 0.5
    assert cropped.shape[1:] == (int(40 * param["scale"] / root), int(60 * param["scale"] * root))
    low, high = param["constraint"]
    iou = bbox_iou([[y_slice.start, x_slice.start, y_slice.stop, x_slice.stop]], bbox)
    assert low is None or iou.min() >= low - 1e-6
    assert high is None or iou.max() <= high + 1e-6


def test_all_constraints_are_drawn_and_alike_often_if_all_can_be_met():
    bbox, counts, rng = np.array([[5, 5, 35, 55]], np.float32), {}, np.random.default_rng(0)
    constraints = ((0.1, None), (0.3, None), (None, 1))
    for _ in range(400):
        _, param = random_crop_with_bbox_constraints(IMG, bbox, constraints=constraints, return_param=True, rng=rng)
        counts[param["constraint"]] = counts.get(param["constraint"], 0) + 1
    assert set(counts) == {None, *constraints}
    assert min(counts.values()) > 70
    assert max(counts.values()) < 130


def test_without_boxes_the_whole_photo_stays():
    _, param = random_crop_with_bbox_constraints(IMG, [], return_param=True)
    whole = {"y_slice": slice(0, 40), "x_slice": slice(0, 60)}
    assert param == {"constraint": None, "scale": 1, "aspect_ratio": 1, **whole}


def test_ten_crop_is_the_middle_the_corners_and_their_mirrors():
    crops = ten_crop(IMG, (10, 20))
    assert crops.shape == (10, 3, 10, 20)
    np.testing.assert_array_equal(crops[0], center_crop(IMG, (10, 20)))
    np.testing.assert_array_equal(crops[4], IMG[:, 30:, 40:])
    np.testing.assert_array_equal(crops[1], IMG[:, :10, :20])
    np.testing.assert_array_equal(crops[2], IMG[:, 30:, :20])
    np.testing.assert_array_equal(crops[3], IMG[:, :10, 40:])
    np.testing.assert_array_equal(crops[5:], crops[:5, ..., ::-1])


def test_without_rng_the_threads_generator_is_drawn_from():
    results = []
    for _ in range(2):
        set_seed(7)
        results.append([random_crop(IMG, (9, 9), return_param=True)[1] for _ in range(5)])
    assert results[0] == results[1]
    assert len({each["x_slice"].start for each in results[0]}) > 1


def test_bad_arguments_are_refused():
    with pytest.raises(ShapeError, match="smaller than the crop"):
        random_crop(IMG, (41, 10))
    with pytest.raises(ShapeError, match="smaller than the crop"):
        ten_crop(IMG, (10, 61))
    with pytest.raises(ValueRangeError, match="max_ratio"):
        random_expand(IMG, max_ratio=0.5)
    with pytest.raises(ValueRangeError, match="scale_ratio_range"):
        random_sized_crop(IMG, scale_ratio_range=(0, 1))
    with pytest.raises(DtypeError, match="default_rng"):
        random_crop(IMG, (9, 9), rng=3)
    with pytest.raises(ShapeError, match="bbox"):
        random_crop_with_bbox_constraints(IMG, np.zeros((2, 5)))
