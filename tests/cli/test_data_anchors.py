"""`cvzoo data anchors` as a user types it."""

import json

import numpy as np
import pytest
from PIL import Image

from cvzoo.links.model.retinanet.config import RetinaNetSettings


@pytest.fixture
def coco(tmp_path):
    """Wide boxes of two classes, one crowd, one box without an area; one image's size is not in the file."""
    (tmp_path / "val").mkdir()
    (tmp_path / "annotations").mkdir()
    for i in range(2):
        Image.new("RGB", (400, 300)).save(tmp_path / f"val/{i}.png")
    random = np.random.default_rng(0)
    boxes = [[*random.uniform(0, 100, 2), random.uniform(80, 200), random.uniform(8, 20)] for _ in range(30)]
    annotations = [
        {"id": i + 1, "image_id": 1 + i % 2, "category_id": 1 + i % 2, "bbox": box, "area": 9, "iscrowd": 0}
        for i, box in enumerate(boxes)
    ]
    annotations[0]["bbox"][3] = 0
    annotations[1] |= {"iscrowd": 1, "bbox": [0, 0, 300, 300]}
    images = [{"id": i + 1, "file_name": f"{i}.png", "height": 300, "width": 400} for i in range(2)]
    del images[1]["height"]
    file = {
        "images": images,
        "annotations": annotations,
        "categories": [{"id": 1, "name": "<b>line</b>"}, {"id": 2, "name": "word"}],
    }
    path = tmp_path / "annotations/instances_val.json"
    path.write_text(json.dumps(file))
    return path


def test_it_says_how_well_anchors_fit_and_suggests_better_ones(run, coco):
    status, out, _ = run("data", "anchors", f"coco:{coco}", "--size", 300, "--ratios", 2, "-k", 3)
    assert status == 0
    assert "2 images, 28 boxes, 1 dropped; short side 300, long side at most 500" in out
    assert "3 clusters of shapes" in out
    assert "<b>line</b>" in out
    assert "anchor_ratios=(" in out


def test_the_suggestion_is_what_retinanet_takes(run, coco):
    status, out, _ = run("data", "anchors", f"coco:{coco}", "--size", 600, "--json", "-")
    record = json.loads(out)
    assert status == 0
    assert record["suggested"]["recall"] > 0.9 > 0.4 > record["default"]["recall"]
    suggested = record["suggested"]
    settings = RetinaNetSettings(anchor_sizes=suggested["anchor_sizes"], anchor_ratios=suggested["anchor_ratios"])
    assert settings.n_anchor == 9
    assert [each["name"] for each in record["classes"]] == ["<b>line</b>", "word"]
    assert sum(each["boxes"] for each in record["classes"]) == record["boxes"] == 28
    path = coco.parent / "anchors.json"
    assert run("data", "anchors", f"coco:{coco}", "--size", 600, "--json", path)[0] == 0
    assert json.loads(path.read_text()) == record


def test_the_text_can_be_pasted(run, coco):
    _, out, _ = run("data", "anchors", f"coco:{coco}", "--sizes", 1, "--ratios", 1, "--first-level", 2)
    pasted = eval(f"dict({out.split('RetinaNetSettings:')[1]})", {"dict": dict})
    assert RetinaNetSettings(first_level=2, **pasted).n_anchor == 1


def test_sizes_are_those_of_the_photo_as_the_network_sees_it(run, coco):
    records = [
        json.loads(run("data", "anchors", f"coco:{coco}", "--size", size, "--json", "-")[1]) for size in (300, 600)
    ]
    np.testing.assert_allclose(records[1]["groups"], 2 * np.array(records[0]["groups"]), rtol=1e-4)


def test_bad_calls_teach(run, coco):
    file = json.loads(coco.read_text())
    file["annotations"] = []
    coco.write_text(json.dumps(file))
    status, _, err = run("data", "anchors", f"coco:{coco}")
    assert status == 2
    assert "no box" in err
    assert run("data", "anchors", f"coco:{coco}", "--size", 0)[0] == 2
