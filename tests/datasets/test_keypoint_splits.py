"""What training on keypoints reads, and which keypoints a mirror image exchanges."""

import json

import pytest
from PIL import Image

from cvzoo.datasets.keypoint_splits import keypoint_splits, mirrored_points
from cvzoo.errors.exceptions import ConfigError, DatasetError


@pytest.fixture
def annotations(tmp_path):
    """Writes NAME.json with an image, or with none, and an object with these keypoints; returns its path."""

    def write(name, keypoints, *, n_image=1):
        Image.new("RGB", (8, 6)).save(tmp_path / "a.png")
        shape = {"bbox": [1, 1, 4, 4], "area": 12, "iscrowd": 0, "segmentation": []}
        points = [2, 3, 2] * len(keypoints)
        objects = [{"id": 1, "image_id": 1, "category_id": 1, "keypoints": points, "num_keypoints": 1, **shape}]
        images = [{"id": 1, "file_name": "a.png", "height": 6, "width": 8}]
        category = {"id": 1, "name": "person", "keypoints": keypoints, "skeleton": []}
        record = {"images": images[:n_image], "annotations": objects[:n_image], "categories": [category]}
        (tmp_path / f"{name}.json").write_text(json.dumps(record))
        return tmp_path / f"{name}.json"

    return write


def test_both_parts_have_the_keypoints_of_the_file(annotations, tmp_path):
    train, val = (annotations(name, ["nose", "left_eye"]) for name in ("train", "val"))
    splits = keypoint_splits(f"coco:{train},{val},photos={tmp_path}")
    assert (splits.label_names, splits.point_names) == (("person",), ("nose", "left_eye"))
    img, point, visible, label, bbox, area, crowded = splits.val[0]
    assert img.shape == (3, 6, 8)
    assert (point.tolist(), visible.tolist()) == ([[[3, 2], [3, 2]]], [[True, True]])
    assert (label.tolist(), bbox.tolist(), area.tolist(), crowded.tolist()) == ([0], [[1, 1, 5, 5]], [12], [False])


def test_a_folder_gives_the_files_of_keypoints(annotations, tmp_path):
    for name in ("person_keypoints_train", "person_keypoints_val", "instances_train", "instances_val"):
        annotations(name, ["nose"] if name.startswith("person") else [])
    assert keypoint_splits(f"coco:{tmp_path}").point_names == ("nose",)


def test_parts_with_different_keypoints_or_without_images_are_refused(annotations, tmp_path):
    train, other, empty = (
        annotations("train", ["nose"]),
        annotations("other", ["tail"]),
        annotations("empty", ["nose"], n_image=0),
    )
    with pytest.raises(DatasetError, match="different keypoints"):
        keypoint_splits(f"coco:{train},{other},photos={tmp_path}")
    with pytest.raises(DatasetError, match="no images"):
        keypoint_splits(f"coco:{train},{empty},photos={tmp_path}")
    with pytest.raises(ConfigError, match="not two files"):
        keypoint_splits(f"coco:{train}")


def test_a_mirror_image_exchanges_left_and_right():
    names = ("nose", "left_eye", "right_eye", "Left Hip", "Right Hip", "left_horn", "EarLeft", "EarRight")
    assert mirrored_points(names) == (0, 2, 1, 4, 3, 5, 7, 6)
