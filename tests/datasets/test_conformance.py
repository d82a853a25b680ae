import numpy as np
import pytest

from cvzoo.datasets import (
    GetterDataset,
    TupleDataset,
    assert_is_bbox,
    assert_is_bbox_dataset,
    assert_is_image,
    assert_is_instance_segmentation_dataset,
    assert_is_label_dataset,
    assert_is_point,
    assert_is_point_dataset,
    assert_is_semantic_segmentation_dataset,
)
from cvzoo.errors.exceptions import DatasetError

IMG = np.random.default_rng(0).integers(0, 256, (3, 20, 30)).astype(np.float32)
BBOX = np.array([[0, 0, 20, 30], [5, 5, 5, 9]], np.float32)
LABEL = np.array([0, 2], np.int32)
MASK = np.zeros((2, 20, 30), bool)
MAP = np.full((20, 30), -1, np.int32)
POINT = np.array([[[3, 4], [20, 30]]], np.float32)
SEEN = np.array([[True, False]])


def one(keys, *values):
    return TupleDataset(*((key, [value]) for key, value in zip(keys, values)))


RIGHT = [
    (assert_is_bbox_dataset, one(("img", "bbox", "label"), IMG, BBOX, LABEL), 3),
    (assert_is_bbox_dataset, [(IMG, np.zeros((0, 4), np.float32), np.zeros(0, np.int32), "more")], 1),
    (assert_is_label_dataset, one(("img", "label"), IMG, np.int32(2)), 3),
    (assert_is_point_dataset, one(("img", "point", "visible"), IMG, POINT, SEEN), 2),
    (assert_is_point_dataset, [(IMG, np.zeros((0, 2, 2), np.float32), np.zeros((0, 2), bool))], 2),
    (assert_is_semantic_segmentation_dataset, one(("img", "label"), IMG, MAP), 1),
    (assert_is_instance_segmentation_dataset, one(("img", "mask", "label"), IMG, MASK, LABEL), 3),
]


@pytest.mark.parametrize(("check", "dataset", "n_class"), RIGHT)
def test_what_is_right_passes(check, dataset, n_class):
    check(dataset, n_class)


IMAGES = [
    (IMG.astype(np.uint8), "dtype"),
    (IMG.tolist(), "not a NumPy array"),
    (IMG[:1], "channels"),
    (IMG.transpose(1, 2, 0), "channels"),
    (IMG[0], "axes"),
    (IMG[:, :0], "empty"),
    (IMG - 1, "range"),
    (IMG + 1, "range"),
    (IMG / 255, "divided by 255"),
    (np.where(IMG > 99, np.float32("nan"), IMG), "NaN"),
]


@pytest.mark.parametrize(("img", "text"), IMAGES)
def test_wrong_photos_are_found(img, text):
    with pytest.raises(DatasetError, match=text):
        assert_is_image(img)


BOXES = [
    (BBOX.astype(np.float64), "dtype"),
    (BBOX[:, :3], r"\(R, 4\)"),
    (BBOX[0], "axes"),
    (BBOX[:, [2, 1, 0, 3]], "negative size"),
    (BBOX - 1, "exceeds the image"),
    (BBOX[:, [1, 0, 3, 2]], "exceeds the image"),
    (BBOX + np.float32("inf"), "NaN or infinite"),
]


@pytest.mark.parametrize(("bbox", "text"), BOXES)
def test_wrong_boxes_are_found(bbox, text):
    with pytest.raises(DatasetError, match=text):
        assert_is_bbox(bbox, size=(20, 30))


POINTS = [
    ((POINT[:, :, :1], None), r"\(R, K, 2\)"),
    ((POINT, SEEN[0]), "axes"),
    ((POINT, SEEN[:, :1]), "differ in shape"),
    ((POINT, SEEN.astype(int)), "dtype"),
    ((POINT + 18, SEEN), "outside of the image"),
    ((POINT, None, (20, 30), 3), "number of points"),
]


@pytest.mark.parametrize(("arguments", "text"), POINTS)
def test_wrong_points_are_found(arguments, text):
    with pytest.raises(DatasetError, match=text):
        assert_is_point(*arguments[:2], *(arguments[2:] or ((20, 30),)))


DATASETS = [
    (assert_is_bbox_dataset, (IMG, BBOX), 3, "too few values"),
    (assert_is_bbox_dataset, IMG, 3, "must be a tuple"),
    (assert_is_bbox_dataset, (IMG, BBOX, LABEL[:1]), 3, "one value per instance"),
    (assert_is_bbox_dataset, (IMG, BBOX, LABEL), 2, "0 .. 1"),
    (assert_is_bbox_dataset, (IMG, BBOX, LABEL - 1), 3, "range"),
    (assert_is_bbox_dataset, (IMG, BBOX, LABEL.astype(np.int64)), 3, "dtype"),
    (assert_is_label_dataset, (IMG, 1), 3, r"np\.int32"),
    (assert_is_label_dataset, (IMG, np.int32(3)), 3, "range"),
    (assert_is_semantic_segmentation_dataset, (IMG, MAP.T), 3, "differ in size"),
    (assert_is_semantic_segmentation_dataset, (IMG, MAP - 1), 3, "range"),
    (assert_is_semantic_segmentation_dataset, (IMG, MAP + 4), 3, "range"),
    (assert_is_instance_segmentation_dataset, (IMG, MASK[:, :9], LABEL), 3, "differ in size"),
    (assert_is_instance_segmentation_dataset, (IMG, MASK.astype(int), LABEL), 3, "dtype"),
    (assert_is_instance_segmentation_dataset, (IMG, MASK[:1], LABEL), 3, "one value per instance"),
]


@pytest.mark.parametrize(("check", "example", "n_class", "text"), DATASETS)
def test_wrong_examples_are_found_and_named(check, example, n_class, text):
    with pytest.raises(DatasetError, match=f"(?s)example 0.*{text}"):
        check([example], n_class)


class Moody(GetterDataset):
    """Labels change from one access to the next."""

    def __init__(self):
        super().__init__()
        self.count = 0
        self.add_getter("img", lambda i: IMG)
        self.add_getter("label", self._get_label)
        self.name_examples(lambda i: f"{i}.jpg")

    def __len__(self):
        return 4

    def _get_label(self, i):
        self.count += 1
        return np.int32(self.count % 2)


def test_values_that_change_when_cut_are_found():
    with pytest.raises(DatasetError, match=r"example 0 \(0\.jpg\): label differs"):
        assert_is_label_dataset(Moody(), 2)


def test_only_some_examples_are_looked_at_if_so_wished():
    looked_at = []

    class Watched(list):
        def __getitem__(self, index):
            looked_at.append(index)
            return super().__getitem__(index)

    assert_is_label_dataset(Watched([(IMG, np.int32(0))] * 9), 1, n_example=3)
    assert looked_at == [0, 4, 8]
