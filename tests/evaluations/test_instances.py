"""Arrays photo by photo that make no sense are refused, by all functions that score arrays, and the photo is named."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import CvzooError
from cvzoo.evaluations import (
    eval_detection_coco,
    eval_detection_voc,
    eval_instance_segmentation_coco,
    eval_instance_segmentation_voc,
    eval_semantic_segmentation,
)

BBOX = np.array([[0, 0, 5, 5], [1, 1, 4, 4]], np.float32)
LABEL, SCORE = np.array([0, 1], np.int32), np.array([0.5, 0.6], np.float32)
MASK = np.ones((2, 6, 6), bool)
AREA, FLAG = np.array([25, 9], np.float32), np.array([False, True])
FUNCTIONS = [
    (eval_detection_voc, (BBOX, LABEL, SCORE, BBOX, LABEL, FLAG)),
    (eval_detection_coco, (BBOX, LABEL, SCORE, BBOX, LABEL, AREA, FLAG)),
    (eval_instance_segmentation_voc, (MASK, LABEL, SCORE, MASK, LABEL)),
    (eval_instance_segmentation_coco, (MASK, LABEL, SCORE, MASK, LABEL, AREA, FLAG)),
    (eval_semantic_segmentation, (MASK[0].astype(int), MASK[0].astype(int))),
]
JUNK = [
    None,
    5,
    "x",
    [[1, 2], [3]],
    np.zeros(0),
    np.zeros((0, 5)),
    np.zeros((2, 5)),
    np.zeros((2, 4), complex),
    np.array([np.nan, 1]),
    np.array(["a", "b"]),
    np.array([None, 1], object),
    np.full((2, 4), np.nan),
    np.array([[5, 5, 0, 0]] * 2),
    np.zeros((2, 6, 6)),
    np.zeros((2, 3, 3), bool),
]


@pytest.mark.parametrize("junk", JUNK, ids=repr)
@pytest.mark.parametrize(("function", "arrays"), FUNCTIONS, ids=lambda value: getattr(value, "__name__", ""))
def test_junk_is_refused_and_its_photo_named(function, arrays, junk):
    for at in range(len(arrays)):
        columns = [[array, junk if i == at else array] for i, array in enumerate(arrays)]
        with pytest.raises(CvzooError, match="image 1"):
            function(*columns)


@pytest.mark.parametrize("label", [np.array([0, -1]), np.array([0, 2**40]), np.array([0.0, 1.5])])
@pytest.mark.parametrize(("function", "arrays"), FUNCTIONS[:4], ids=lambda value: getattr(value, "__name__", ""))
def test_labels_are_numbers_of_classes(function, arrays, label):
    for at in (1, 4):
        columns = [[array, label if i == at else array] for i, array in enumerate(arrays)]
        with pytest.raises(CvzooError, match="image 1"):
            function(*columns)


def test_no_area_is_negative():
    columns = [[array] for array in (BBOX, LABEL, SCORE, BBOX, LABEL, np.array([25, -9], np.float32))]
    with pytest.raises(CvzooError, match="gt_areas of image 0, row 1"):
        eval_detection_coco(*columns)
