"""Polygons, masks and texts of objects: what is refused, what versions carry, and that trainings read them."""

import json

import numpy as np
import pytest

from cvzoo.datasets.instance_splits import instance_splits
from cvzoo.datasets.layouts.data_spec import parse_data_spec
from cvzoo.datasets.layouts.read import read_annotated_set
from cvzoo.errors.exceptions import DatasetError
from cvzoo.geometry.rle import RLEs

TRIANGLE = [10.5, 10, 40, 12.25, 20, 50]
BOX = [10, 10.5, 50, 40]


@pytest.fixture
def outlined(imported_once, write_coco):
    """A data set of ten images: each has an object with two polygons, one with a mask, and one with a text."""
    return imported_once("outlined", lambda root: write_outlined(write_coco(root, boxes=3)))


def write_outlined(root):
    """Gives the boxes of a data set outlines, masks and texts."""
    mask = np.zeros((60, 80), bool)
    mask[10:30, 20:41] = True
    mask[12:20, 25:30] = False
    (rle,) = RLEs.from_masks(mask[None]).to_coco()
    rle = rle | {"counts": rle["counts"] if isinstance(rle["counts"], str) else rle["counts"].decode()}
    for path in (root / "annotations").iterdir():
        file = json.loads(path.read_text())
        for i, each in enumerate(file["annotations"]):
            if i % 3 == 0:
                polygons = [TRIANGLE, [50, 20, 70, 20, 70, 45]]
                each |= {"bbox": [10.5, 10, 59.5, 40], "segmentation": polygons, "area": 700.5}
            elif i % 3 == 1:
                each |= {"bbox": [20, 10, 21, 20], "segmentation": rle, "area": 380}
            else:
                y, x, height, width = 10, 45.5, 8.25, 12
                corners = [x, y, x + width, y, x + width, y + height, x, y + height]
                each |= {"text": f"total, {i}", "bbox": [x, y, width, height], "segmentation": [corners]}
        path.write_text(json.dumps(file))


@pytest.fixture
def path(outlined):
    return f"/api/v1/datasets/{outlined}/images/3"


def put(browser, path, objects, edit_id="edit-0001"):
    base = browser.get(path).json()["first_rev"]
    text = json.dumps({"edit_id": edit_id, "base": base, "objects": objects})  # in ASCII, which can have "\\ud800"
    return browser.put(f"{path}/labels", content=text, headers={"content-type": "application/json"})


def version_of(browser, studio, work, dataset, name="first"):
    answer = browser.post(f"/api/v1/datasets/{dataset}/versions", json={"name": name})
    assert answer.status_code in (200, 202), answer.text
    work(studio)
    version = browser.get(f"/api/v1/versions/{answer.json()['id']}").json()
    assert version["state"] == "ready", version
    return version


def annotations(spec):
    """What a data set says about its objects, by image."""
    found = read_annotated_set(parse_data_spec(spec))
    return {
        image.name: [
            (each.name, each.bbox, each.polygons, each.rle, {k: v for k, v in each.extra.items() if k != "id"})
            for each in image.objects
        ]
        for image in found.images
    }


def test_an_unedited_version_has_the_annotations_of_the_import(browser, studio, work, outlined, tmp_path):
    version = version_of(browser, studio, work, outlined)
    assert annotations(version["data"]) == annotations(f"coco:{tmp_path}/outlined")
    ours, theirs = instance_splits(version["data"]), instance_splits(f"coco:{tmp_path}/outlined")
    for a, b in ((ours.train, theirs.train), (ours.val, theirs.val)):
        assert len(a) == len(b) > 0
        for one, other in zip(a, b):
            for x, y in zip(one, other):
                np.testing.assert_array_equal(x, y)


def test_a_polygon_that_was_drawn_is_in_the_version_with_its_area(browser, studio, work, outlined, path):
    labels = browser.get(path).json()["labels"]
    drawn = {"id": "new", "class": "dog", "box": BOX, "polygons": [TRIANGLE]}
    assert put(browser, path, [*labels, drawn]).status_code == 200
    version = version_of(browser, studio, work, outlined)
    name, bbox, polygons, rle, extra = annotations(version["data"])["3.png"][-1]
    assert (name, bbox, polygons, rle) == ("dog", tuple(BOX), (tuple(TRIANGLE),), None)
    assert extra["area"] == 579.3125
    image = next(each for each in instance_splits(version["data"]).train if len(each[1]) == 4)
    assert image[1][-1].sum() == pytest.approx(extra["area"], rel=0.05)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"polygons": [[1, 2, 3, 4]]}, "2 corners, but needs three"),
        ({"polygons": [[]]}, "0 corners"),
        ({"polygons": [TRIANGLE, [1, 2, 3, 4, 5, 6, 7]]}, "polygon 1 with 7 numbers"),
        ({"polygons": [[1, 2, 3, 4, 5, 1e7]]}, "finite number, at most 1000000 pixels"),
        ({"polygons": [[1, 2, 3, 4, 5, None]]}, "finite number"),
        ({"polygons": [[1, 2, 3, 4, 5, "6"]]}, "finite number"),
        ({"polygons": {"a": 1}}, "not a list"),
        ({"polygons": [[1, 2] * 10_001]}, "10001 corners"),
        ({"polygons": [TRIANGLE], "rle": {"size": [60, 80], "counts": [4800]}}, "both a mask and polygons"),
        ({"extra": {"text": "half of a character: \ud83d"}}, "an extra with half of a character"),
        ({"extra": {"\udc80": [1]}}, "an extra with half of a character"),
        ({"id": "\ud800"}, "no id"),
        ({"rle": {"size": [60, 81], "counts": [60 * 81]}}, "mask of 60 x 81 pixels"),
        ({"rle": {"size": [60, 80], "counts": [5]}}, "malformed mask"),
        ({"rle": {"size": [60, 80], "counts": [-5, 4805]}}, "malformed mask"),
        ({"rle": {"counts": "abc"}}, "malformed mask"),
        ({"points": [1, 2]}, "visibility"),
        ({"extra": {"text": ["a"]}}, "has a text"),
        ({"extra": {"text": "x" * 2001}}, "has a text"),
        ({"box": [0, 0, 5, -1e6]}, "four finite numbers"),
    ],
)
def test_shapes_that_no_object_has_are_refused(browser, path, change, words):
    answer = put(browser, path, [{"id": "a", "class": "cat", "box": [0, 0, 5, 5]} | change])
    assert answer.status_code == 422
    assert words in answer.json()["detail"]
    assert browser.get(path).json()["first_rev"] == 1


def test_too_many_corners_are_refused(browser, path):
    one = {"id": "a", "class": "cat", "box": [0, 0, 5, 5]}
    many = [one | {"id": str(i), "polygons": [[1, 2] * 9000]} for i in range(12)]
    answer = put(browser, path, many)
    assert (answer.status_code, answer.json()["expected"]) == (422, "at most 100000 in an image")
    million = put(browser, path, [one | {"polygons": [[1, 2] * 1_000_000]}])
    assert million.status_code == 422
    assert "a polygon of 1000000 corners, polygon 0; at most 10000" in million.json()["detail"]


def test_a_training_of_masks_tells_first_that_an_object_has_none(browser, studio, work, outlined, path, tmp_path):
    labels = browser.get(path).json()["labels"]
    assert put(browser, path, [*labels, {"id": "new", "class": "dog", "box": BOX}]).status_code == 200
    version = version_of(browser, studio, work, outlined)
    with pytest.raises(DatasetError, match="1 object has a box, but no mask"):
        instance_splits(version["data"])


def test_a_moved_mask_and_another_text_are_differences(browser, studio, work, outlined, path):
    first = version_of(browser, studio, work, outlined)
    labels = browser.get(path).json()["labels"]
    assert "rle" in labels[1]
    labels[1] |= {"box": [10, 20, 60, 80], "rle": {"size": [60, 80], "counts": [1000, 2, 3798]}}
    labels[2]["extra"] |= {"text": "sum"}
    assert put(browser, path, labels).status_code == 200
    second = version_of(browser, studio, work, outlined, "second")
    found = browser.get(f"/api/v1/versions/{second['id']}/diff?other={first['id']}").json()
    assert found["objects"] == {"added": 0, "deleted": 0, "moved": 1, "renamed": 0, "rewritten": 1}
    assert browser.get(f"/versions/{second['id']}/diff?other={first['id']}").status_code == 200
    assert browser.get(f"/data/{outlined}/images").status_code == 200


def write_sroie(root):
    from PIL import Image

    for part in ("img", "box"):
        (root / part).mkdir(parents=True)
    for i in range(4):
        Image.new("RGB", (80, 60), (i, i, i)).save(root / "img" / f"{i}.png")
        lines = ["1,2,30,2,30,10,1,10,TOTAL, 1", "1.5,20,30,22,29,30,1,28,slanted"]
        (root / "box" / f"{i}.csv").write_text("".join(f"{line}\n" for line in lines))
    (root / "train.txt").write_text("0\n1\n2\n")
    (root / "val.txt").write_text("3\n")
    return root


def test_texts_and_their_corners_come_back_as_lines(browser, studio, work, tmp_path):
    root = write_sroie(tmp_path / "receipts")
    answer = browser.post("/api/v1/datasets", json={"name": "receipts", "source": {"spec": f"sroie:{root}"}}).json()
    work(studio)
    version = version_of(browser, studio, work, answer["id"])
    assert version["data"].startswith("sroie:")
    box = studio.place.version(version["id"]) / "box" / "0.csv"
    assert box.read_bytes() == (root / "box" / "0.csv").read_bytes()
    path = f"/api/v1/datasets/{answer['id']}/images/0"
    labels = browser.get(path).json()["labels"]
    labels[0]["extra"]["text"] = "TOTAL\x85 2"  # which splits lines, too
    assert put(browser, path, labels).status_code == 200
    version = version_of(browser, studio, work, answer["id"], "second")
    lines = (studio.place.version(version["id"]) / "box" / "0.csv").read_text().splitlines()
    assert lines == ["1,2,30,2,30,10,1,10,TOTAL  2", "1.5,20,30,22,29,30,1,28,slanted"]
    labels[0]["polygons"] = [[1, 2, 30, 2, 35, 6, 30, 10, 1, 10]]
    assert put(browser, path, labels, "edit-0002").status_code == 200
    version = version_of(browser, studio, work, answer["id"], "third")
    assert version["data"].startswith("coco:")  # a line of SROIE's has four corners
    assert annotations(version["data"])["0.png"][0][2] == ((1, 2, 30, 2, 35, 6, 30, 10, 1, 10),)
    assert annotations(version["data"])["0.png"][1][4]["text"] == "slanted"
