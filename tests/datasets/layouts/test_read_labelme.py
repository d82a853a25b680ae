"""labelme's files are read with all their faults."""

import json

import numpy as np
import pytest
from PIL import Image

from cvzoo.datasets.bbox_splits import bbox_splits
from cvzoo.datasets.layouts.data_spec import parse_data_spec
from cvzoo.datasets.layouts.read import read_annotated_set
from cvzoo.errors import ConfigError, DatasetError


@pytest.fixture
def folder(tmp_path):
    """A function that writes the shapes of an image's file, and gives the folder."""
    Image.fromarray(np.zeros((40, 60, 3), np.uint8)).save(tmp_path / "a.png")

    def write(*shapes, **fields):
        file = {"shapes": shapes, "imagePath": "a.png", "imageHeight": 40, "imageWidth": 60, **fields}
        (tmp_path / "a.json").write_text(json.dumps(file))
        return tmp_path

    return write


def shape(label, kind, *points, **fields):
    return {"label": label, "shape_type": kind, "points": points, **fields}


def read(root):
    return read_annotated_set(parse_data_spec(f"labelme:{root}"))


def test_every_kind_of_shape(folder):
    root = folder(
        shape("dog", "rectangle", (30, 20), (10, 5)),  # from any corner
        shape("cat", "polygon", (1, 1), (9, 1), (9, 8), group_id=4),
        shape("cat", "polygon", (20, 1), (29, 1), (25, 3), group_id=4),  # the same cat behind a tree
        shape("wheel", "circle", (20, 20), (23, 24)),
        shape("nose", "point", (3, 2), group_id=4),
    )
    found = read(root)
    (image,) = found.images
    assert found.findings == ()
    assert image.size == (40, 60)
    assert [(each.name, each.bbox) for each in image.objects] == [
        ("dog", (5, 10, 20, 30)),
        ("cat", (1, 1, 8, 29)),
        ("wheel", (15, 15, 25, 25)),
    ]
    assert len(image.objects[1].polygons) == 2
    assert image.objects[1].points == (3, 2, 2)


def test_faults_are_findings(folder):
    root = folder(
        shape("dog", "rectangle", (30, 20)),
        shape("dog", "linestrip", (1, 2), (3, 4)),
        shape(None, "rectangle", (1, 2), (3, 4)),
        shape("dog", "rectangle", (1, "x"), (3, 4)),
        "no shape",
        shape("nose", "point", (3, 2), group_id=9),
    )
    Image.fromarray(np.zeros((4, 6, 3), np.uint8)).save(root / "b.png")
    (root / "c.json").write_text("{")
    found = read(root)
    assert [image.objects for image in found.images] == [(), (), ()]
    words = [each.message for each in found.findings]
    assert sum("shapes[" in each for each in words) == 5
    assert any("no object" in each for each in words)
    assert any("no .json file" in each for each in words)
    assert any("c.json has no list of shapes" in each for each in words)


def test_a_folder_without_files_of_labelme_is_refused(tmp_path):
    with pytest.raises(DatasetError, match="not in labelme's layout"):
        read(tmp_path)


def test_training_on_it_names_the_conversion(folder):
    root = folder(shape("dog", "rectangle", (30, 20), (10, 5)))
    with pytest.raises(ConfigError, match="is not trained on") as caught:
        bbox_splits(f"labelme:{root}")
    assert "cvzoo data convert" in str(caught.value)


def test_any_list_that_begins_with_an_image_is_a_split(folder):
    root = folder(shape("dog", "rectangle", (30, 20), (10, 5)))
    for name, text in (
        ("train", "a\n"),
        ("trainval", "a\n"),
        ("val", ""),
        ("labels", "dog\n"),
        ("notes", "all dogs\n"),
    ):
        (root / f"{name}.txt").write_text(text)
    found = read(root)
    assert found.splits == ("train", "val", "trainval")
    assert found.images[0].splits == ("train", "trainval")
    assert found.findings == ()
