"""Which data an evaluation recognizes, before it is queued."""

import pytest
from PIL import Image

from cvzoo.studio.worker.evaluation_data import wrong_data


@pytest.fixture
def data(tmp_path, write_coco):
    """A folder of small data sets."""
    write_coco(tmp_path / "coco")
    files = "voc/JPEGImages/a.jpg voc/Annotations/a.xml voc/ImageSets/Main/val.txt yolo/images/a.jpg yolo/labels/a.txt"
    files += " sroie/img/a.jpg sroie/box/a.csv labelme/a.jpg labelme/a.json classes/cat/a.jpg splits/train/cat/a.jpg"
    files += " splits/val/cat/a.jpg maps/images/val/a.png maps/labels/val/a.png maps/classes.txt images/a.jpg"
    for name in files.split():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in (".jpg", ".png"):
            Image.new("L", (8, 8)).save(path)
        else:
            path.write_text("a\n")
    return tmp_path


@pytest.mark.parametrize(
    ("spec", "split"),
    [
        ("{}/coco", "val"),
        ("coco:{}/coco", "train"),
        ("coco:{}/coco/annotations/instances_val.json,photos={}/coco/images", ""),
        ("{}/voc", ""),
        ("voc:{}/voc", "val"),
        ("{}/yolo", ""),
        ("sroie:{}/sroie", ""),
        ("labelme:{}/labelme", ""),
        ("folder:{}/classes", ""),
        ("folder:{}/splits", ""),
        ("folder:{}/splits", "train"),
        ("folder:{}/maps", ""),
        ("labels:{}/maps/labels/val", ""),
    ],
)
def test_what_evaluations_read_is_recognized(data, spec, split):
    assert wrong_data(spec.format(data, data), split) == {}


@pytest.mark.parametrize(
    ("spec", "split", "words"),
    [
        ("{}/images", "", "the layout of the data set is not recognized"),
        ("voc:{}/images", "", "contains no folder Annotations"),
        ("coco:{}/images", "", "contains no annotations"),
        ("yolo:{}/images", "", "has no annotations; expected: .txt files in"),
        ("sroie:{}/images", "", "has no annotations; expected: .txt or .csv files in"),
        ("labelme:{}/images", "", "has no annotations; expected: .json files in"),
        ("folder:{}/images", "", "contains no subfolders; expected: one folder per class"),
        ("folder:{}/splits", "test", "is not a folder"),
        ("folder:{}/maps", "train", "is not a folder"),
        ("coco:{}/coco", "", "has several splits"),
        ("coco:{}/coco/annotations/instances_val.json", "val", "a file of COCO is one split"),
        ("voc:{}/voc", "train", "train.txt"),
        ("voc:{}/nowhere", "", "does not exist"),
        ("nonsense:{}/voc", "", "is not a specification of annotated objects, nor a path"),
        ("nonsense", "", "is not a specification of annotated objects, nor a path"),
        ("{}/a\0b", "", ""),
    ],
)
def test_what_no_evaluation_could_read_is_told(data, spec, split, words):
    assert words in wrong_data(spec.format(data), split)["data"]
