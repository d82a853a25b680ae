"""Results become annotations of data sets in Python, too."""

import io
import json

import numpy as np
import pytest

from cvzoo.errors import UnsupportedError, ValueRangeError
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.coco.read_ground_truth import read_coco_ground_truth
from cvzoo.geometry.rle import RLEs
from cvzoo.images import read_label
from cvzoo.links.model.classifications import Classifications
from cvzoo.links.model.detections import Detections
from cvzoo.links.model.instance_segmentations import InstanceSegmentations
from cvzoo.links.model.keypoint_detections import KeypointDetections
from cvzoo.links.model.label_maps import LabelMaps

BBOX = np.float32([[2, 3, 20, 30], [-1, 5, 90, 9]])
LABEL, SCORE = np.int32([1, 0]), np.float32([0.9, 0.5])
NONE = np.zeros((0, 4), np.float32), np.zeros(0, np.int32), np.zeros(0, np.float32)


def boxes(**settings):
    return Detections([BBOX, NONE[0]], [LABEL, NONE[1]], [SCORE, NONE[2]], **settings)


def test_a_result_is_a_file_of_coco():
    file = boxes(label_names=("ape", "bee"), sources=[np.zeros((3, 40, 60)), np.zeros((3, 8, 9))]).to_coco()
    assert file["images"] == [
        {"id": 1, "file_name": "image_0.jpg", "height": 40, "width": 60},
        {"id": 2, "file_name": "image_1.jpg", "height": 8, "width": 9},
    ]
    assert [each["bbox"] for each in file["annotations"]] == [[3, 2, 27, 18], [5, 0, 4, 40]]
    assert [each["category_id"] for each in file["annotations"]] == [2, 1]
    truth = read_coco_ground_truth(json.dumps(file).encode(), COCOParameters())
    assert len(truth.bbox) == 2


def test_one_image_of_a_result_and_names_and_sizes_of_the_callers():
    result = boxes(label_names=("ape", "bee"))
    names, sizes = ["a.jpg", "b.jpg"], [(40, 60), (8, 9)]
    assert len(result.to_coco(file_names=names, sizes=sizes)["images"]) == 2
    (image,) = result.to_coco(-1, file_names=names, sizes=sizes)["images"]
    assert (image["file_name"], image["height"]) == ("b.jpg", 8)
    first, second = result.to_voc(file_names=names, sizes=sizes)
    assert "<name>bee</name>" in first
    assert "<score>0.9</score>" in first
    assert "<object>" not in second
    assert result.to_voc(0, file_names=names, sizes=sizes) == [first]


def test_without_class_names_the_classes_are_their_numbers():
    names = [each["name"] for each in boxes().to_coco(sizes=[(40, 60), (8, 9)])["categories"]]
    assert names == ["0", "1"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "the size of image 0 is unknown"),
        ({"i": 2, "sizes": [(4, 4)] * 2}, "no such image"),
        ({"sizes": [(4, 4)]}, "sizes must have one element per image"),
        ({"sizes": [(4, 4)] * 2, "file_names": ["a"]}, "file_names must have one element per image"),
    ],
)
def test_what_is_missing_is_named(settings, message):
    with pytest.raises(ValueRangeError, match=message):
        boxes().to_coco(**settings)


def test_masks_and_keypoints_are_in_coco_and_their_boxes_in_voc():
    mask = np.zeros((2, 40, 60), bool)
    mask[0, 2:20, 3:30], mask[1, :, 5:9] = True, True
    found = InstanceSegmentations([RLEs.from_masks(mask)], [LABEL], [SCORE])
    np.testing.assert_array_equal(
        RLEs.from_coco([each["segmentation"] for each in found.to_coco()["annotations"]]).to_masks(), mask
    )
    assert found.to_voc()[0].count("<object>") == 2
    point = np.float32([[[4, 5]], [[6, 7]]])
    found = KeypointDetections([point], [LABEL], [SCORE], bboxes=[BBOX], point_scores=[np.ones((2, 1))])
    file = found.to_coco(sizes=[(40, 60)])
    assert [each["keypoints"] for each in file["annotations"]] == [[5, 4, 2], [7, 6, 2]]
    assert file["categories"][0]["keypoints"] == ["0"]


def test_a_label_map_is_a_picture_of_voc_and_masks_of_coco():
    label = np.int32([[0, 0, 2], [-1, 2, 2]])
    maps = LabelMaps([label, label[:1]])
    (png,) = maps.to_voc(0)
    np.testing.assert_array_equal(read_label(io.BytesIO(png)), [[0, 0, 2], [255, 2, 2]])
    assert len(maps.to_voc()) == 2
    assert [each["area"] for each in maps.to_coco()["annotations"]] == [2, 3, 2, 1]
    with pytest.raises(ValueRangeError, match="up to 254"):
        LabelMaps([label + 254]).to_voc()
    with pytest.raises(ValueRangeError, match="no such image"):
        maps.to_voc(2)


def test_classes_of_whole_images_are_refused_with_what_works():
    result = Classifications(np.float32([[0.4, 0.6]]))
    for convert in (result.to_coco, result.to_voc):
        with pytest.raises(UnsupportedError, match="cannot represent the classes of whole images") as caught:
            convert()
        assert "to_records()" in str(caught.value)
