import json

import layouts
import numpy as np
import pytest
from conformance_cases import assert_pickles
from PIL import Image

import cvzoo.datasets as D
from cvzoo.datasets.conformance import (
    assert_is_bbox_dataset,
    assert_is_label_dataset,
    assert_is_semantic_segmentation_dataset,
)
from cvzoo.errors.exceptions import CvzooError, DatasetError
from cvzoo.labels.class_colors import class_colors


def yolo(root):
    layouts.photo(root / "images/train/a.jpg", 0)
    layouts.photo(root / "images/train/deep/b.png", 1)
    layouts.write(root / "labels/train/a.txt", "1 0.5 0.5 0.25 0.5\n\n0 0 0.25 0.25 0.75 0.5 0.5\n")
    layouts.write(root / "classes.names", "cat\ndog\n")
    return root


def test_yolo_labels_are_read_beside_their_photos(tmp_path):
    root = yolo(tmp_path)
    dataset = D.YOLOBboxDataset(root / "images/train", root / "classes.names")
    assert_is_bbox_dataset(dataset, 2)
    assert_pickles(dataset)
    assert (len(dataset), dataset.label_names) == (2, ("cat", "dog"))
    _, bbox, label = dataset[0]
    # the second line is a polygon: its box
    np.testing.assert_array_equal(bbox, [[6, 12, 18, 20], [6, 0, 18, 16]])
    np.testing.assert_array_equal(label, [1, 0])
    assert dataset[1][1].shape == (0, 4)


@pytest.mark.parametrize("text", ["path: .\nnames: [cat, dog]\n", "names:\n  0: cat\n  1: dog\nnc: 2\n"])
def test_yolo_takes_the_names_of_a_yaml(tmp_path, text):
    root = yolo(tmp_path)
    (root / "data.yaml").write_text(text)
    assert D.YOLOBboxDataset(root / "images/train", root / "data.yaml").label_names == ("cat", "dog")
    (root / "data.yaml").write_text("nc: 2\n")
    with pytest.raises(DatasetError, match="does not list the classes"):
        D.YOLOBboxDataset(root / "images/train", root / "data.yaml")


def test_own_classes_have_colours(tmp_path):
    root = yolo(tmp_path)
    colors = D.YOLOBboxDataset(root / "images/train", root / "classes.names").label_colors
    assert colors == D.voc_semantic_segmentation_label_colors[1:][: len(colors)]
    assert len(set(class_colors(255))) == 255


def test_yolo_takes_lists_of_photos_and_folders_of_labels(tmp_path):
    root = yolo(tmp_path)
    layouts.write(root / "list.txt", "images/train/deep/b.png\nimages/train/a.jpg\n")
    dataset = D.YOLOBboxDataset(root / "list.txt", ["cat", "dog"])
    assert [len(label) for label in dataset.slice[:, "label"]] == [0, 2]
    again = D.YOLOBboxDataset(root / "images/train", ["cat", "dog"], label_dir=root / "labels/train")
    assert [len(label) for label in again.slice[:, "label"]] == [2, 0]


def test_yolo_boxes_follow_the_photos_exif_orientation(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    (tmp_path / "images").mkdir()
    Image.new("RGB", (40, 20)).save(tmp_path / "images/a.jpg", exif=exif)
    layouts.write(tmp_path / "labels/a.txt", "0 0.5 0.5 1 1")
    img, bbox, _ = D.YOLOBboxDataset(tmp_path / "images", ["x"])[0]
    assert img.shape == (3, 40, 20)
    np.testing.assert_array_equal(bbox, [[0, 0, 40, 20]])


BAD_LINES = ["2 .5 .5 .1 .1", "-1 .5 .5 .1 .1", "0.5 .5 .5 .1 .1", "0 .5 .5 -.1 .1", "0 .5 .5 .1", "cat .5 .5 .1 .1"]


@pytest.mark.parametrize("line", [*BAD_LINES, "0 nan .5 .1 .1", "0 .5 .5 .1 inf", "0"])
def test_bad_lines_of_yolo_are_named(tmp_path, line):
    root = yolo(tmp_path)
    layouts.write(root / "labels/train/a.txt", f"0 .5 .5 .1 .1\n{line}\n")
    with pytest.raises(DatasetError, match=r"a\.txt:2"):
        D.YOLOBboxDataset(root / "images/train", ["cat", "dog"])[0]


def broken(change):
    file = json.loads(json.dumps(layouts.COCO))
    change(file)
    return json.dumps(file)


BAD_COCO = [
    ("{", "not an annotation file"),
    ("[]", "not an annotation file"),
    (broken(lambda f: f.pop("images")), "images"),
    (broken(lambda f: f["annotations"][1].pop("bbox")), r"annotations\[\.\.\.\]|annotations"),
    (broken(lambda f: f["annotations"][1].update(image_id=77)), r"annotations\[1\] has an unknown image_id"),
    (broken(lambda f: f["annotations"][2].update(category_id=77)), r"annotations\[2\] has an unknown category_id"),
    (broken(lambda f: f["annotations"][1].update(bbox=[1, 2, 3])), r"annotations\[1\]\.bbox must have 4 numbers"),
    (broken(lambda f: f["annotations"][1].update(bbox=[1, 2, 3, 1e999])), "not an annotation file|not finite"),
    (broken(lambda f: f["annotations"][1].update(bbox="1 2")), "not an annotation file"),
    (broken(lambda f: f["annotations"][1].update(bbox=[1, 2, 3, 1e308])), r"annotations\[1\]\.bbox is too large"),
    (broken(lambda f: f["annotations"][1].update(area=1e308)), r"annotations\[1\]\.area is too large"),
    (broken(lambda f: f["annotations"][1].update(image_id=2**70)), "too large|not an annotation file"),
    (broken(lambda f: f["images"][1].update(height=2**40)), "too large|not an annotation file"),
    ('{"x": ' + "[" * 100_000, "not an annotation file"),
    (broken(lambda f: f["images"].append(dict(f["images"][0]))), "two images have the same id"),
    (broken(lambda f: f["categories"].append(dict(f["categories"][0]))), "two categories have the same id"),
]


@pytest.mark.parametrize(("text", "complaint"), BAD_COCO)
def test_bad_coco_files_are_named(tmp_path, text, complaint):
    layouts.coco(tmp_path)
    path = tmp_path / "annotations/instances_val2017.json"
    path.write_text(text)
    with pytest.raises(DatasetError, match=rf"(?s)instances_val2017\.json.*({complaint})"):
        D.COCOJSONBboxDataset(path)


BAD_MASKS = [None, 3, [[1, 2, 3, "x", 5, 6]], {"size": [24, 32], "counts": "~~~"}, {"size": [5, 5], "counts": [25]}, {}]
BAD_MASKS += [{"size": [40000, 40000], "counts": [0, 1_600_000_000]}]


@pytest.mark.parametrize("value", BAD_MASKS, ids=str)
def test_bad_masks_are_named_by_their_annotation(tmp_path, value):
    layouts.coco(tmp_path)
    path = tmp_path / "annotations/instances_val2017.json"
    path.write_text(broken(lambda f: f["annotations"][0].update(segmentation=value)))
    with pytest.raises(DatasetError, match="annotation 1"):
        D.COCOJSONInstanceSegmentationDataset(path)[2]


def test_coco_boxes_and_masks_without_extent_are_left_out_together(tmp_path):
    dataset = D.COCOInstanceSegmentationDataset(layouts.coco(tmp_path), "val", return_bbox=True, return_area=True)
    _, mask, label, area, bbox = dataset[2]
    assert (len(mask), label.tolist(), area.tolist()) == (2, [1, 0], [70.5, 12])
    np.testing.assert_array_equal(bbox, [[3, 2.5, 11, 12.5], [2, 1, 6, 4]])
    np.testing.assert_array_equal(np.flatnonzero(mask[1].any(axis=0)), [1, 2])
    assert [len(each) for each in dataset.slice[:, "label"]] == [0, 0, 2]


def test_an_annotation_file_that_changes_under_its_data_set_is_found(tmp_path):
    path = layouts.coco(tmp_path) / "annotations/instances_val2017.json"
    dataset = D.COCOJSONInstanceSegmentationDataset(path)
    path.write_text(path.read_text().replace("dog", "horse"))
    with pytest.raises(DatasetError, match="was changed"):
        dataset[2]


def test_an_annotation_without_a_mask_is_named(tmp_path):
    path = layouts.coco(tmp_path) / "annotations/instances_val2017.json"
    path.write_text(broken(lambda f: f["annotations"][3].pop("segmentation")))
    with pytest.raises(DatasetError, match="annotation 4"):
        D.COCOJSONInstanceSegmentationDataset(path)[2]


def test_coco_key_points_are_y_x_and_hidden_ones_count(tmp_path):
    dataset = D.COCOKeypointDataset(layouts.coco(tmp_path, kind="person_keypoints"), "val", return_bbox=True)
    _, point, visible, bbox = dataset[2]
    assert (point.shape, bbox.shape) == ((2, 17, 2), (2, 4))
    np.testing.assert_array_equal(point[0, 15:], [[6, 5], [4, 10]])
    np.testing.assert_array_equal(visible[0], [False] * 15 + [True] * 2)


def test_your_own_coco_file_needs_neither_areas_nor_sizes(tmp_path):
    layouts.coco(tmp_path)
    path = tmp_path / "annotations/instances_val2017.json"

    def strip(file):
        for each in file["annotations"]:
            del each["area"], each["iscrowd"], each["id"]
        for each in file["images"]:
            del each["height"], each["width"]

    path.write_text(broken(strip))
    dataset = D.COCOJSONBboxDataset(path, return_area=True)
    np.testing.assert_array_equal(dataset.slice[:, "area"][2], [80, 12])
    assert D.COCOJSONInstanceSegmentationDataset(path)[2][1].shape == (2, *layouts.SIZE)


def test_photos_that_are_nowhere_are_explained(tmp_path):
    layouts.coco(tmp_path, below="elsewhere")
    path = tmp_path / "annotations/instances_val2017.json"
    with pytest.raises(DatasetError, match="image_dir="):
        D.COCOJSONBboxDataset(path)
    assert len(D.COCOJSONBboxDataset(path, tmp_path / "elsewhere/val2017")[0][0]) == 3


def test_folders_are_classes(tmp_path):
    for name in ("2/a.png", "10/b.png", "10/deep/c.JPG", "2/notes.txt"):
        layouts.write(tmp_path / name, "") if name.endswith("txt") else layouts.photo(tmp_path / name)
    dataset = D.DirectoryParsingLabelDataset(str(tmp_path))
    assert_is_label_dataset(dataset, 2)
    assert_pickles(dataset)
    assert dataset.label_names == ("10", "2")
    assert (dataset.labels.dtype, dataset.labels.tolist()) == (np.int32, [0, 0, 1])
    assert [path[len(str(tmp_path)) :] for path in dataset.img_paths] == ["/10/b.png", "/10/deep/c.JPG", "/2/a.png"]
    assert D.directory_parsing_label_names(tmp_path, numerical_sort=True) == ["2", "10"]
    grey = D.DirectoryParsingLabelDataset(tmp_path, lambda path: path.endswith("a.png"), color=False)
    assert_is_label_dataset(grey, 2, color=False)
    assert len(grey) == 1


def test_folders_that_are_none_are_explained(tmp_path):
    for act in (
        lambda: D.DirectoryParsingLabelDataset(tmp_path / "none"),
        lambda: D.DirectoryParsingLabelDataset(tmp_path),
        lambda: D.VOCFolderBboxDataset(tmp_path),
        lambda: D.SROIETextDataset(tmp_path),
    ):
        with pytest.raises(DatasetError):
            act()
    (tmp_path / "cat").mkdir()
    with pytest.raises(DatasetError, match=r"none\.json"):
        D.COCOJSONInstanceSegmentationDataset(tmp_path / "none.json")
    with pytest.raises(DatasetError, match="not a number"):
        D.directory_parsing_label_names(tmp_path, numerical_sort=True)


def test_sroie_files_may_lie_side_by_side_as_the_challenge_gives_them(tmp_path):
    layouts.photo(tmp_path / "X1.jpg")
    layouts.write(tmp_path / "X1.txt", "1,2,9,2,9,6,1,6,TOTAL, 3.50\n5,6,7,6,8,9,4,9,")
    _, bbox, label, quad, text = D.SROIETextDataset(tmp_path, return_quad=True, return_text=True)[0]
    np.testing.assert_array_equal(bbox, [[2, 1, 6, 9], [6, 4, 9, 8]])
    np.testing.assert_array_equal(quad[1], [[6, 5], [6, 7], [9, 8], [9, 4]])
    assert (text, label.tolist()) == (("TOTAL, 3.50", ""), [0, 0])
    layouts.write(tmp_path / "X1.txt", "1,2,9,2,9,6,1,TOTAL")
    with pytest.raises(DatasetError, match=r"X1\.txt:1"):
        D.SROIETextDataset(tmp_path)[0]


def test_broken_photos_are_named(tmp_path):
    root = yolo(tmp_path)
    (root / "images/train/a.jpg").write_bytes(b"no photo")
    with pytest.raises(CvzooError, match=r"a\.jpg"):
        D.YOLOBboxDataset(root / "images/train", ["cat", "dog"])[0]


def test_a_text_file_lists_images_with_their_classes(tmp_path):
    for name in ("a.png", "deep/b c.png"):
        layouts.photo(tmp_path / name)
    layouts.write(tmp_path / "list.txt", "\ufeffa.png 2\n\n  deep/b c.png   0\r\n")
    dataset = D.LabeledImageDataset(tmp_path / "list.txt")
    assert_is_label_dataset(dataset, 3)
    assert_pickles(dataset)
    assert (dataset.labels.dtype, dataset.labels.tolist(), dataset.label_names) == (np.int32, [2, 0], ("0", "1", "2"))
    named = D.LabeledImageDataset([("deep/b c.png", 1)], tmp_path, label_names=["cat", "dog"], color=False)
    assert_is_label_dataset(named, 2, color=False)
    np.testing.assert_array_equal(D.LabeledImageDataset([("a.png", np.int64(0))], str(tmp_path))[0][0], dataset[0][0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a.png 0\na.png", "line 2: not a path and a label"),
        ("a.png zero", "line 1: the label is not an integer"),
        ("a.png 1.5", "line 1: the label is not an integer"),
        ("\na.png -1", "line 2: the label is out of range"),
        ("a.png 99999999999999", "line 1: the label is out of range"),
        ("../a.png 0", "outside"),
        ("/etc/hostname 0", "outside"),
        ("a\0.png 0", "null byte"),
    ],
)
def test_a_list_of_images_that_is_none_is_explained(tmp_path, text, words):
    (tmp_path / "data").mkdir()
    layouts.write(tmp_path / "data/list.txt", text)
    with pytest.raises(DatasetError, match=words):
        D.LabeledImageDataset(tmp_path / "data/list.txt")


def test_a_list_of_images_that_cannot_be_read_is_explained(tmp_path):
    for path in (tmp_path / "none.txt", tmp_path):
        with pytest.raises(DatasetError, match="cannot be read"):
            D.LabeledImageDataset(path)
    for odd in (("b.png", 0, 1), 5, (5, 0), "b.png 0", "ab"):
        with pytest.raises(DatasetError, match=r"pair 1: not a path and a label"):
            D.LabeledImageDataset([("a.png", 0), odd])
    with pytest.raises(DatasetError, match=r"pair 0: the label is not an integer"):
        D.LabeledImageDataset([("a.png", 0.5)])


def label_map_folder(root):
    for i in range(2):
        layouts.photo(root / f"images/train/{i}.jpg", i)
        layouts.label_map(root / f"labels/train/{i}.png", np.arange(np.prod(layouts.SIZE)).reshape(layouts.SIZE) % 3)
    layouts.write(root / "classes.txt", "road\ncar\n\nsky\n")
    return root


def test_label_maps_of_a_folder_are_read_beside_their_images(tmp_path):
    root = label_map_folder(tmp_path)
    layouts.label_map(root / "labels/train/1.png", np.full(layouts.SIZE, 255))
    dataset = D.LabelMapFolderDataset(root)
    assert dataset.label_names == ("road", "car", "sky")
    assert_is_semantic_segmentation_dataset(dataset, 3)
    assert_pickles(dataset)
    assert (dataset[1][1] == -1).all()
    assert dataset.name(0).endswith("0.jpg")


def _without(name):
    return lambda root: (root / name).unlink()


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (_without("classes.txt"), "classes.txt"),
        (_without("labels/train/1.png"), "1.jpg has no label map"),
        (lambda root: layouts.write(root / "classes.txt", "\n"), "names no class"),
        (lambda root: layouts.write(root / "classes.txt", "road\n"), "0.png has a pixel of no class"),
        (lambda root: layouts.label_map(root / "labels/train/0.png", np.zeros((3, 4))), "another size than its image"),
    ],
)
def test_damaged_folders_of_label_maps_are_refused_by_name(tmp_path, damage, text):
    root = label_map_folder(tmp_path)
    damage(root)
    with pytest.raises(DatasetError, match=text):
        D.LabelMapFolderDataset(root)[0]


def test_a_folder_of_label_maps_has_a_training_and_a_validation_set(tmp_path):
    root = label_map_folder(tmp_path)
    for kind in ("images", "labels"):
        (root / kind / "val").mkdir()
    with pytest.raises(DatasetError, match="val has no images"):
        D.label_map_splits(f"folder:{root}")
    for kind, name in (("images", "1.jpg"), ("labels", "1.png")):
        (root / kind / "train" / name).rename(root / kind / "val" / name)
    train, val, names = D.label_map_splits(f"folder:{root}")
    assert (len(train), len(val), names) == (1, 1, ("road", "car", "sky"))
