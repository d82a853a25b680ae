"""Versions are written image by image, and have what is written of all images at once."""

import hashlib
import json

import pytest

from cvzoo.datasets.layouts.write_coco import write_coco
from cvzoo.datasets.layouts.write_sroie import write_sroie
from cvzoo.datasets.layouts.write_voc import write_voc
from cvzoo.studio.data.labels import image_from_json
from cvzoo.studio.data.version_files import read_files
from cvzoo.studio.photos.store import ImageStore
from cvzoo.studio.worker.check_data import annotated_set
from cvzoo.studio.worker.make_version import make_version

WRITERS = {"coco": write_coco, "voc": write_voc, "sroie": write_sroie}


def row(store, i, name=None, **more):
    data = f"image {i}".encode()
    sha256 = hashlib.sha256(data).hexdigest()
    store.image(sha256).parent.mkdir(parents=True, exist_ok=True)
    store.image(sha256).write_bytes(data)
    extra = {"id": 5} if i % 2 else {"text": "word"}
    polygon = {} if i % 2 else {"polygons": [[1.0, 2.0, 9.0, 2.0, 9.0, 8.0, 1.0, 8.0]]}
    labels = [
        {"id": f"{i}-{j}", "class": "text", "box": [2.0, 1.0 + j, 8.1, 9.0], "extra": extra} for j in range(i % 4)
    ]
    labels = [each | polygon for each in labels]
    of_image = {"ordinal": i, "name": name or f"{i}.jpg", "sha256": sha256, "height": 30, "width": 40}
    return of_image | {"split": ("train", "val", "")[i % 3], "labels": labels, "extra": {}} | more


@pytest.fixture
def version(tmp_path):
    """Makes a version of rows, all errors waived, and returns its folder, the order and what came out."""
    store = ImageStore(tmp_path / "images")

    def make(rows, layout):
        (tmp_path / "items.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
        order = {"images": str(store.root), "classes": ["text"], "extra": {}, "task": "boxes", "layout": layout}
        order |= {"kept": str(tmp_path / "looks.json"), "out": str(tmp_path / "version"), "waived": [], "findings": []}
        files = tmp_path / "items.jsonl", tmp_path / "findings.jsonl"
        make_version(order, *files, lambda *_: None)
        order["waived"] = [line.split()[0] for line in files[1].read_text().splitlines()]
        return tmp_path / "version", order, make_version(order, *files, lambda *_: None)

    return store, make


@pytest.mark.parametrize(
    ("layout", "written"), [("coco", "coco"), ("voc", "voc"), ("voc", "coco"), ("sroie", "sroie"), ("yolo", "coco")]
)
def test_a_version_has_what_is_written_of_all_images_at_once(version, tmp_path, layout, written):
    store, make = version
    numbers = [i for i in range(9) if layout == "sroie" or written != "voc" or i % 2]
    rows = [row(store, i, height=0 if i == 7 else 30) for i in numbers]
    for left in (".version.0123abcd.part", ".version.files.jsonl.0123abcd.part"):  # of processes that were killed
        (tmp_path / left).mkdir() if "files" not in left else (tmp_path / left).touch()
    folder, order, result = make(rows, layout)
    assert list(tmp_path.glob("*.part")) == list(tmp_path.glob(".*.part")) == []
    assert (result["n_error"], result["data"]) == (0, f"{written}:{folder}")
    images = [image_from_json(each, None) for each in rows if each["height"]]
    (tmp_path / "whole").mkdir()
    names = {image.name: image.name for image in images}
    WRITERS[written](annotated_set(order, images, written), tmp_path / "whole", names)
    for path in (tmp_path / "whole").rglob("*.*"):
        assert (folder / path.relative_to(tmp_path / "whole")).read_bytes() == path.read_bytes()
    known = {each.name.rpartition("/")[2]: each.sha256 for each in read_files(folder)}
    assert {each["name"]: each["sha256"] for each in rows if each["height"]}.items() <= known.items()
    n_file = sum(path.is_file() for path in (tmp_path / "whole").rglob("*"))
    assert len(known) == n_file + len(images)


def test_an_image_of_a_name_that_is_taken_overwrites_no_image_of_the_store(version):
    store, make = version
    rows = [row(store, i, name="same.jpg") for i in (1, 2)]
    with pytest.raises(FileExistsError):
        make(rows, "coco")
    assert [store.image(each["sha256"]).read_text() for each in rows] == ["image 1", "image 2"]
