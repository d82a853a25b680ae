"""`cvzoo evaluate` of panoptic segmentations."""

import json

import numpy as np
import pytest
from PIL import Image

CATEGORIES = [{"id": 1, "isthing": 1, "name": "cat"}, {"id": 9, "isthing": 0, "name": "sky"}]
CAT, SKY = 70_000, 300  # ids that need all three bytes of a pixel


def write(path, maps, segments, **more):
    """A panoptic JSON file and its PNG files. maps, segments: by image name."""
    path.with_suffix("").mkdir()
    annotations = []
    for number, (name, ids) in enumerate(maps.items()):
        ids = np.asarray(ids)
        rgb = np.stack([ids % 256, ids // 256 % 256, ids // 65536], axis=2).astype(np.uint8)
        Image.fromarray(rgb).save(path.with_suffix("") / f"{name}.png")
        annotations.append({"image_id": number, "file_name": f"{name}.png", "segments_info": segments[name]})
    path.write_text(json.dumps({"annotations": annotations, **more}))
    return path


@pytest.fixture
def files(tmp_path):
    """Two images; in the second the cat has another id and half of its pixels."""
    truth = {"a": [[CAT, CAT, SKY, SKY]], "b": [[CAT, CAT, CAT, SKY]]}
    found = {"a": [[CAT, CAT, SKY, SKY]], "b": [[5, 5, 0, SKY]]}
    gt = [{"id": CAT, "category_id": 1, "iscrowd": 0}, {"id": SKY, "category_id": 9, "area": 1}]
    gt_a = [{"id": CAT, "category_id": 1}, {"id": SKY, "category_id": 9}]
    pred = {"a": gt_a, "b": [{"id": 5, "category_id": 1}, {"id": SKY, "category_id": 9}]}
    write(tmp_path / "gt.json", truth, {"a": gt_a, "b": gt}, categories=CATEGORIES)
    write(tmp_path / "found.json", found, pred)
    return ("--gt", f"panoptic:{tmp_path / 'gt.json'}", "--results", tmp_path / "found.json")


def test_files_of_cocos_panoptic_task_get_their_quality(run, files, tmp_path):
    status, out, err = run("evaluate", *files, "--json", tmp_path / "o.json")
    assert status == 0, err
    record = json.loads((tmp_path / "o.json").read_text())
    assert record["pq/things"] == pytest.approx((1 + 2 / 3) / 2)
    assert record["pq/stuff"] == record["rq"] == 1
    assert record["pq"] == pytest.approx((1 + (1 + 2 / 3) / 2) / 2)
    assert [(row["name"], row["n_segments"]) for row in record["per_class"]] == [("cat", 2), ("sky", 2)]
    assert record["counts"] == {"images": 2, "classes": 2}
    assert "panoptic quality" in out
    assert json.loads(run("evaluate", *files, "--json", "-", "--quiet")[1]) == record


def test_the_first_images_alone(run, files):
    assert json.loads(run("evaluate", *files, "--limit", 1, "--json", "-")[1])["pq"] == 1


def test_what_cannot_be_scored_is_told(run, files, tmp_path):
    status, _, err = run("evaluate", *files, "--iou-type", "segm")
    assert status != 0
    assert "panoptic" in err
    assert "two files" in run("evaluate", *files[:2], "--model", "x")[2]
    less = tmp_path / "less.json"
    less.write_text('{"annotations": []}')
    assert "no segments of 2 images" in run("evaluate", *files[:3], less)[2]
    (tmp_path / "found" / "b.png").unlink()
    assert "b.png" in run("evaluate", *files)[2]
