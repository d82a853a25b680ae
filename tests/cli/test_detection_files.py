"""Detections that `cvzoo evaluate` saves and reads again, and ground truth in YOLO's layout."""

import json

import numpy as np
import pytest
from PIL import Image

from cvzoo.images.read_image import read_image
from cvzoo.images.read_image_size import read_image_size
from cvzoo.images.write_image import write_image

BOXES = {"a.jpg": [(0, 5, 6, 20, 18)], "zwei Bäume.png": [(1, 2, 3, 9, 15), (0, 4, 10, 12, 12)]}  # label, x, y, w, h


@pytest.fixture
def coco(photos, tmp_path):
    """The two images of `photos` with objects, as COCO's annotations."""
    (photos / "zwei Bäume.png").rename(photos / "b.png")
    images, annotations = [], []
    for number, (name, boxes) in enumerate(zip(("a.jpg", "b.png"), BOXES.values()), 1):
        height, width = read_image_size(photos / name)
        images.append({"id": number, "file_name": name, "width": width, "height": height})
        for label, *box in boxes:
            one = {"id": len(annotations) + 1, "image_id": number, "category_id": label + 1, "iscrowd": 0}
            annotations.append(one | {"bbox": box, "area": box[2] * box[3]})
    categories = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]
    path = tmp_path / "coco" / "truth.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}))
    return f"coco:{path},photos={photos}"


@pytest.fixture
def voc(coco, photos, tmp_path):
    """The same as a folder in VOC's layout."""
    root = tmp_path / "voc"
    for name in ("Annotations", "JPEGImages"):
        (root / name).mkdir(parents=True)
    for name, boxes in zip(("a.jpg", "b.png"), BOXES.values()):
        stem = name.split(".")[0]
        write_image(read_image(photos / name), root / "JPEGImages" / f"{stem}.jpg")
        height, width = read_image_size(photos / name)
        objects = "".join(
            f"<object><name>{('cat', 'dog')[label]}</name><difficult>0</difficult><bndbox><xmin>{x + 1}</xmin>"
            f"<ymin>{y + 1}</ymin><xmax>{x + w}</xmax><ymax>{y + h}</ymax></bndbox></object>"
            for label, x, y, w, h in boxes
        )
        size = f"<size><width>{width}</width><height>{height}</height><depth>3</depth></size>"
        text = f"<annotation><filename>{stem}.jpg</filename>{size}{objects}</annotation>"
        (root / "Annotations" / f"{stem}.xml").write_text(text)
    return f"voc:{root}"


def record(run, tmp_path, *words):
    status, _, err = run("evaluate", *words, "--quiet", "--json", tmp_path / "o.json")
    assert status == 0, err
    return json.loads((tmp_path / "o.json").read_text())


def scores(record):
    return [record[key] for key in record if key in ("AP", "AP50", "AR100", "APs", "map")] + [
        row["AP"] for row in record["per_class"]
    ]


@pytest.mark.parametrize("metric", ["coco", "voc"])
@pytest.mark.parametrize("layout", ["coco", "voc"])
@pytest.mark.parametrize("saved", ["found.json", "found.csv", "found/", "found --save-format yolo"])
def test_saved_detections_have_the_models_scores(run, coco, voc, net, tmp_path, layout, metric, saved):
    if saved == "found.json" and "voc" in (layout, metric):
        pytest.skip("COCO's results need COCO's ids")
    name, *more = saved.split()
    spec = coco if layout == "coco" else voc
    target = f"{tmp_path / name}/" if name.endswith("/") else tmp_path / name
    words = ("--data", spec, "--metric", metric)
    model = record(run, tmp_path, *net, *words, "--score-thresh", 0.001, "--save-results", target, *more)
    assert model["counts"]["detections"] > 5
    again = record(run, tmp_path, *words, "--results", tmp_path / name)
    assert scores(again) == pytest.approx(scores(model))
    assert again["counts"] == model["counts"]


def test_yolos_layout_is_ground_truth(run, coco, photos, net, tmp_path):
    assert run("data", "convert", coco, tmp_path / "yolo", "--to", "yolo")[0] == 0
    spec = f"yolo:{tmp_path / 'yolo'}"
    of_coco = record(run, tmp_path, *net, "--data", coco, "--save-results", tmp_path / "found.csv")
    of_yolo = record(run, tmp_path, *net, "--data", spec)
    assert scores(of_yolo) == pytest.approx(scores(of_coco))
    assert [row["name"] for row in of_yolo["per_class"]] == ["cat", "dog"]
    # results alone need no model, and the metric may be VOC's
    results = ("--gt", spec, "--results", tmp_path / "found.csv")
    assert scores(record(run, tmp_path, *results)) == pytest.approx(scores(of_coco))
    assert "map" in record(run, tmp_path, *results, "--metric", "voc")


def test_malformed_labels_are_errors_that_name_the_image(run, coco, tmp_path):
    assert run("data", "convert", coco, tmp_path / "yolo", "--to", "yolo")[0] == 0
    (text,) = (tmp_path / "yolo" / "labels").rglob("a.txt")
    (tmp_path / "none").mkdir()
    results = ("--results", tmp_path / "none")
    for line, says in (
        ("0 0.5 0.5 0.1", "a.jpg"),
        ("7 0.5 0.5 0.1 0.1", "class 7 of 2"),
        ("0 0.5 x 0.1 0.1", "numbers"),
    ):
        text.write_text(line)
        status, out, err = run("evaluate", "--gt", f"yolo:{tmp_path / 'yolo'}", *results)
        assert (status, out) == (2, "")
        assert says in err
        assert "cvzoo data check yolo:" in err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0 0.5 0.5 0.1 0.1", "a.txt, line 1 has no score"),
        ("0 0.5 0.5 0.1 0.1 nan", "a.txt, line 1 is malformed"),
        ("2 0.5 0.5 0.1 0.1 0.9", "a.txt, line 1: unknown class number"),
        ("cat", "a.txt, line 1 is malformed"),
    ],
)
def test_malformed_yolo_results_are_named(run, coco, tmp_path, text, says):
    (tmp_path / "found").mkdir()
    (tmp_path / "found" / "a.txt").write_text(f"{text}\n")
    status, out, err = run("evaluate", "--gt", coco, "--results", tmp_path / "found")
    assert (status, out) == (2, "")
    assert says in err


def test_unknown_images_and_unknown_sizes_are_named(run, coco, voc, tmp_path):
    (tmp_path / "found").mkdir()
    (tmp_path / "found" / "c.txt").write_text("0 0.5 0.5 0.1 0.1 0.5\n")
    status, _, err = run("evaluate", "--gt", coco, "--results", tmp_path / "found")
    assert status == 2
    assert "no photo of this name" in err
    status, _, err = run("evaluate", "--gt", voc.removeprefix("voc:"), "--results", tmp_path / "found")
    assert status == 2
    assert "the size of a.jpg is unknown" in err


def test_places_that_cannot_be_written_are_found_before_the_model_runs(run, coco, voc, net, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    for words, says in (
        (("--data", coco, "--save-results", tmp_path / "full"), "full exists"),
        (("--data", coco, "--save-results", tmp_path / "no" / "x", "--save-format", "yolo"), "does not exist"),
        (("--data", coco, "--save-results", tmp_path / "no" / "x.csv"), "does not exist"),
        (("--data", coco, "--save-format", "yolo"), "--save-format needs --save-results"),
        (("--data", voc, "--save-results", tmp_path / "x.json"), "VOC's metric needs names"),
        (("--data", coco, "--save-results", tmp_path / "y", "--save-format", "svg"), "invalid choice"),
    ):
        status, out, err = run("evaluate", *net, *words)
        assert (status, out) == (2, ""), words
        assert says in err, err


def test_names_that_vocs_files_cannot_hold_are_refused(run, photos, net, tmp_path):
    Image.fromarray(np.zeros((20, 20, 3), np.uint8)).save(photos / "a b.png")
    images = [{"id": 1, "file_name": "a b.png", "width": 20, "height": 20}]
    table = {"images": images, "annotations": [], "categories": [{"id": 1, "name": "cat"}]}
    (tmp_path / "t.json").write_text(json.dumps(table))
    words = ("--data", f"coco:{tmp_path / 't.json'},photos={photos}", "--save-results", tmp_path / "f", "--save-format")
    status, _, err = run("evaluate", *net, *words, "voc")
    assert status == 2
    assert "image name with blanks" in err
