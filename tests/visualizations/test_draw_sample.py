"""One image with whatever annotations it has."""

import numpy as np
import pytest

from cvzoo.errors import ShapeError
from cvzoo.transforms import Sample
from cvzoo.visualizations import describe_sample, draw_bbox, draw_label_map, draw_mask, draw_point, draw_sample

IMG = np.random.default_rng(0).integers(0, 256, (3, 60, 80)).astype(np.float32)
BBOX = np.float32([[5, 6, 40, 50], [20, 30, 55, 75]])
LABEL = np.int32([1, 0])
MASK = np.zeros((2, 60, 80), bool)
MASK[0, 5:40, 6:50] = MASK[1, 20:55, 30:75] = True
POINT = np.float32([[[10, 10], [30, 40]], [[22, 33], [50, 70]]])
MAP = np.full((60, 80), -1, np.int32)
MAP[:30], MAP[30:45] = 2, 0
NAMES = ("cat", "dog", "road")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, IMG),
        ({"bbox": BBOX, "label": LABEL}, draw_bbox(IMG, BBOX, LABEL, label_names=NAMES)),
        ({"bbox": BBOX}, draw_bbox(IMG, BBOX)),
        ({"mask": MASK, "label": LABEL}, draw_mask(IMG, MASK, LABEL)),
        ({"label_map": MAP}, draw_label_map(IMG, MAP)),
        ({"point": POINT}, draw_point(IMG, POINT)),
        ({"point": POINT, "visible": POINT[..., 0] < 40}, draw_point(IMG, POINT, POINT[..., 0] < 40)),
        ({"label": np.int32(2)}, IMG),
    ],
)
def test_each_annotation_is_drawn_as_by_its_own_function(fields, expected):
    before = IMG.copy()
    drawn = draw_sample(Sample(img=IMG, **fields), label_names=NAMES)
    np.testing.assert_array_equal(drawn, expected)
    np.testing.assert_array_equal(IMG, before)


def test_all_are_drawn_together_and_ignored_objects_are_not():
    sample = Sample(img=IMG, bbox=BBOX, label=LABEL, mask=MASK, point=POINT, crowded=np.array([False, True]))
    one = sample.take([0])
    drawn = draw_sample(sample, [0.9, 0.8], label_names=NAMES)
    np.testing.assert_array_equal(drawn, draw_sample(one, [0.9], label_names=NAMES))
    expected = draw_bbox(draw_mask(IMG, MASK[:1], LABEL[:1]), BBOX[:1], LABEL[:1], [0.9], label_names=NAMES)
    np.testing.assert_array_equal(drawn, draw_point(expected, POINT[:1]))


def test_gray_images_and_images_without_objects_are_drawn():
    gray = Sample(img=IMG[:1], bbox=np.zeros((0, 4), np.float32), label=np.zeros(0, np.int32))
    np.testing.assert_array_equal(draw_sample(gray), IMG[:1].repeat(3, axis=0))


@pytest.mark.parametrize(
    ("fields", "score", "says"),
    [
        ({}, None, "no annotations"),
        ({"bbox": BBOX, "label": LABEL}, None, "2 objects"),
        ({"bbox": BBOX, "difficult": np.array([True, False])}, None, "1 object, 1 ignored"),
        ({"bbox": BBOX[:0]}, None, "0 objects"),
        ({"label": np.int32(1)}, None, "dog"),
        ({"label": np.int32(1)}, 0.876, "dog 0.88"),
        ({"label_map": MAP}, None, "road 50 %, cat 25 %, 25 % ignored"),
    ],
)
def test_a_line_says_what_there_is(fields, score, says):
    assert describe_sample(Sample(img=IMG, **fields), score, label_names=NAMES) == says


def test_scores_are_one_per_object():
    with pytest.raises(ShapeError, match="one value per instance"):
        draw_sample(Sample(img=IMG, bbox=BBOX), [0.5])
