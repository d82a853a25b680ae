"""Both parts of a detector's data from one word."""

import json
import pathlib
import pickle

import numpy as np
import pytest
from PIL import Image

from cvzoo.datasets import SROIETextDataset, VOCFolderBboxDataset, bbox_splits
from cvzoo.datasets.bbox_splits import means_coco, split_specs
from cvzoo.datasets.instance_splits import instance_splits
from cvzoo.datasets.layouts.data_spec import parse_data_spec
from cvzoo.datasets.layouts.read import read_annotated_set
from cvzoo.errors import ConfigError, DatasetError
from cvzoo.training.recipes.listing import RECIPES
from cvzoo.training.recipes.settings import with_settings


def photo(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full((20, 30, 3), 90, np.uint8)).save(path)


def voc(root, splits):
    (root / "ImageSets/Main").mkdir(parents=True)
    (root / "Annotations").mkdir()
    for split, (id_, name) in splits.items():
        photo(root / f"JPEGImages/{id_}.png")
        (root / f"ImageSets/Main/{split}.txt").write_text(f"{id_}\n")
        (root / f"Annotations/{id_}.xml").write_text(
            f"<annotation><object><name>{name}</name><difficult>1</difficult><bndbox><xmin>3</xmin><ymin>2</ymin>"
            "<xmax>11</xmax><ymax>9</ymax></bndbox></object></annotation>"
        )
    return f"voc:{root}"


def coco(root, **names):
    paths = []
    for split, name in names.items():
        photo(root / f"{split}.png")
        content = {
            "images": [{"id": 1, "file_name": f"{split}.png", "height": 20, "width": 30}],
            "categories": [{"id": 7, "name": name}],
            "annotations": [{"id": 1, "image_id": 1, "category_id": 7, "bbox": [2, 1, 8, 7], "area": 56, "iscrowd": 1}],
        }
        content["annotations"][0]["segmentation"] = {"size": [20, 30], "counts": [41, 559]}
        paths.append(root / f"{split}.json")
        paths[-1].write_text(json.dumps(content))
    return f"coco:{paths[0]},{paths[1]},photos={root}"


def yolo(root):
    for split in ("train", "val"):
        photo(root / f"images/{split}/{split}.png")
        (root / f"labels/{split}").mkdir(parents=True)
        (root / f"labels/{split}/{split}.txt").write_text("0 0.2 0.2 0.2 0.2\n")
    (root / "data.yaml").write_text("names: [cell]\n")
    return f"yolo:{root}"


def test_boxes_without_an_area_are_left_out_of_what_is_learned(tmp_path):
    spec = voc(tmp_path / "voc", {"train": ("a", "cell"), "val": ("b", "cell")})
    path = tmp_path / "voc/Annotations/a.xml"
    text = path.read_text()
    start, end = text.index("<object>"), text.index("</annotation>")
    path.write_text(text[:end] + text[start:end].replace("<xmax>11", "<xmax>3") + text[end:])
    yolo(tmp_path / "yolo")
    (tmp_path / "yolo/labels/train/train.txt").write_text("0 0.2 0.2 0.2 0.2\n0 0.2 0.2 0 0.2\n")
    sroie = tmp_path / "sroie"
    for split in ("train", "val"):
        photo(sroie / f"img/{split}.png")
        (sroie / "box").mkdir(exist_ok=True)
        (sroie / f"box/{split}.csv").write_text("1,1,9,1,9,5,1,5,A\n1,1,9,1,9,1,1,1,B\n")
        (sroie / f"{split}.txt").write_text(f"{split}\n")
    for each in (spec, f"yolo:{tmp_path}/yolo", f"sroie:{sroie}"):
        assert len(bbox_splits(each).train[0][1]) == len(bbox_splits(each).train[0][2]) == 1
    assert len(VOCFolderBboxDataset(tmp_path / "voc", "train", use_difficult=True)[0][1]) == 2
    regions = SROIETextDataset(sroie, "train", return_quad=True, return_text=True, use_empty=False)[0]
    assert regions[3].shape == (1, 4, 2)
    assert regions[4] == ("A",)


def test_a_voc_folder_gives_its_two_lists_with_the_classes_of_both(tmp_path):
    splits = bbox_splits(voc(tmp_path, {"train": ("a", "cell"), "val": ("b", "blob")}))
    assert splits.label_names == ("blob", "cell") == splits.train.label_names
    img, bbox, label, difficult = splits.train[0]
    assert img.shape == (3, 20, 30)
    assert label.tolist() == [1]
    assert difficult.tolist() == [True]
    assert bbox.tolist() == [[1, 2, 8, 10]]
    assert splits.val[0][2].tolist() == [0]


def test_a_folder_is_cocos_by_its_contents_too(tmp_path):
    coco(tmp_path, train="cell", val="cell")
    (tmp_path / "annotations").mkdir()
    for split in ("train", "val"):
        (tmp_path / f"{split}.json").rename(tmp_path / f"annotations/instances_{split}2017.json")
    recipe = RECIPES["retinanet_resnet18_small"]
    for spec, metric in ((f"coco:{tmp_path}", "coco"), (str(tmp_path), "coco"), (voc(tmp_path / "v", {}), "voc")):
        assert means_coco(spec) == (metric == "coco")
        assert with_settings(recipe, {"data": spec}).metric == metric
    assert with_settings(recipe, {"data": str(tmp_path / "v")}).metric == "voc"
    assert with_settings(recipe, {"data": "nowhere"}).metric == "voc"
    assert with_settings(recipe, {"data": str(tmp_path), "metric": "voc"}).metric == "voc"


def test_pixels_may_be_counted_from_zero(tmp_path):
    spec = voc(tmp_path, {"train": ("a", "cell"), "val": ("b", "cell")})
    assert bbox_splits(spec + ",base=0").train[0][1].tolist() == [[2, 3, 9, 11]]


def test_two_coco_files_give_crowds_with_their_flag(tmp_path):
    splits = bbox_splits(coco(tmp_path, train="cell", val="cell"))
    _, bbox, label, crowded = splits.val[0]
    assert bbox.tolist() == [[1, 2, 8, 10]]
    assert label.tolist() == [0]
    assert crowded.tolist() == [True]


def test_a_coco_folder_gives_the_files_of_train_and_val_with_or_without_a_year(tmp_path):
    coco(tmp_path, train="cell", val="cell")
    (tmp_path / "annotations").mkdir()
    (tmp_path / "train.json").rename(tmp_path / "annotations" / "instances_train2017.json")
    with pytest.raises(ConfigError, match=r"has no split val\s+expected: train2017"):
        bbox_splits(f"coco:{tmp_path}")
    (tmp_path / "val.json").rename(tmp_path / "annotations" / "instances_val.json")
    for spec in (f"coco:{tmp_path}", str(tmp_path)):
        splits = bbox_splits(spec)
        assert [pathlib.Path(each.name(0)).stem for each in (splits.train, splits.val)] == ["train", "val"]
    names = [each.path.name for each in split_specs(f"coco:{tmp_path}")]
    assert names == ["instances_train2017.json", "instances_val.json"]
    assert instance_splits(f"coco:{tmp_path}").label_names == ("cell",)
    for split in ("train", "train2017"):  # the name without its year selects one of the splits, too
        annotated = read_annotated_set(parse_data_spec(f"coco:{tmp_path},split={split}"))
        assert [image.splits for image in annotated.images] == [("train2017",)]
    with pytest.raises(ConfigError, match=r"unknown split trai\s+expected: train2017, val"):
        read_annotated_set(parse_data_spec(f"coco:{tmp_path},split=trai"))
    (tmp_path / "annotations/instances_train2014.json").write_bytes(
        (tmp_path / "annotations/instances_train2017.json").read_bytes()
    )
    with pytest.raises(ConfigError, match=r"several splits are train\s+expected: train2014, train2017"):
        read_annotated_set(parse_data_spec(f"coco:{tmp_path},split=train"))
    with pytest.raises(ConfigError, match="both parts"):
        bbox_splits(f"coco:{tmp_path},split=val")


def test_a_yolo_folder_gives_its_two_folders(tmp_path):
    splits = bbox_splits(yolo(tmp_path))
    assert splits.label_names == ("cell",)
    np.testing.assert_allclose(splits.val[0][1], [[2, 3, 6, 9]], atol=1e-5)


def test_every_layout_gives_four_values_of_which_the_last_marks_objects(tmp_path, shared):
    specs = [
        voc(tmp_path / "voc", {"train": ("a", "cell"), "val": ("b", "cell")}),
        coco(tmp_path, train="cell", val="cell"),
        yolo(tmp_path / "yolo"),
        f"sroie:{shared / 'data/sroie'}",
    ]
    for spec in specs:
        val = pickle.loads(pickle.dumps(bbox_splits(spec).val))  # as worker processes get it
        _, bbox, label, flag = val[0]
        assert flag.dtype == bool, spec
        assert len(bbox) == len(label) == len(flag) > 0
        assert len(val.slice[:, ("img", "bbox", "label")][0]) == 3


def test_receipts_are_read_for_real(shared):
    splits = bbox_splits(f"sroie:{shared / 'data/sroie'}")
    assert (len(splits.train), len(splits.val), splits.label_names) == (366, 132, ("text",))


def test_cells_are_read_for_real(shared):
    splits = bbox_splits(f"voc:{shared / 'data/bccd/BCCD'}")
    assert (len(splits.train), len(splits.val)) == (205, 87)
    assert splits.label_names == ("Platelets", "RBC", "WBC")


@pytest.mark.parametrize(
    ("spec", "error", "words"),
    [
        ("coco:one.json", ConfigError, "two"),
        ("voc:{root},split=train", ConfigError, "both parts"),
        ("voc:{root}", DatasetError, "val.txt"),
        ("voc:nowhere", ConfigError, "nowhere"),
        ("tea:{root}", ConfigError, "is not a specification of annotated objects"),
    ],
)
def test_what_is_not_there_is_told(tmp_path, monkeypatch, spec, error, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.json").write_text("{}")
    voc(tmp_path / "data", {"train": ("a", "cell")})
    with pytest.raises(error, match=words):
        bbox_splits(spec.format(root=tmp_path / "data"))


def test_parts_of_other_classes_are_refused(tmp_path):
    with pytest.raises(DatasetError, match="different classes"):
        bbox_splits(coco(tmp_path, train="cell", val="blob"))


def test_a_yolo_folder_without_names_is_refused(tmp_path):
    spec = yolo(tmp_path)
    (tmp_path / "data.yaml").unlink()
    with pytest.raises(DatasetError, match="lists the classes"):
        bbox_splits(spec)
