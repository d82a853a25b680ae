"""`cvzoo evaluate` and `compare` of LVIS' annotations."""

import gzip
import json
import shutil

import numpy as np
import pytest

from cvzoo.evaluations.coco.image_names import read_image_names


@pytest.fixture(params=["bbox", "segm"])
def case(shared, tmp_path, request):
    """The options for 100 images of LVIS with results, and the scores of the lvis package by name."""
    name = f"real_lvis100_{request.param}"
    with gzip.open(shared / "eval_cases" / "open" / f"{name}.json.gz", "rt") as file:
        stored = json.load(file)
    for key in ("gt", "dt"):
        (tmp_path / f"{key}.json").write_text(json.dumps(stored[key]))
    with np.load(shared / "eval_cases" / "open" / f"{name}.expected.npz") as file:
        expected = dict(zip(file["names"].tolist(), file["stats"].tolist()))
    words = ("--gt", f"lvis:{tmp_path / 'gt.json'}", "--iou-type", request.param, "--json", tmp_path / "o.json")
    return words, tmp_path / "dt.json", expected


def test_results_get_the_packages_scores(run, case, tmp_path):
    words, results, expected = case
    status, out, err = run("evaluate", *words, "--results", results, "--report", tmp_path / "r.html")
    assert status == 0, err
    record = json.loads((tmp_path / "o.json").read_text())
    assert {name: record[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    assert {row["frequency"] for row in record["per_class"]} == {"rare", "common", "frequent"}
    assert "rare classes" in out
    assert "Precision and recall" in (tmp_path / "r.html").read_text()
    assert run("evaluate", *words, "--results", results, "--limit", 5)[0] == 0
    assert json.loads((tmp_path / "o.json").read_text())["counts"]["images"] == 5


def test_two_results_are_compared_by_lviss_ap(run, case, tmp_path):
    words, results, expected = case
    found = json.loads(results.read_text())
    (tmp_path / "half.json").write_text(json.dumps(found[: len(found) // 2]))
    status, _, err = run("compare", tmp_path / "half.json", results, *words, "--resamples", 10)
    assert status == 0, err
    record = json.loads((tmp_path / "o.json").read_text())
    assert record["scores"][0]["b"]["value"] == pytest.approx(expected["AP"], abs=1e-12)
    assert record["scores"][0]["difference"]["value"] > 0


def test_options_of_other_metrics_and_other_files_are_refused(run, tmp_path):
    plain = {"images": [{"id": 1, "file_name": "a.jpg", "width": 9, "height": 9}], "annotations": [], "categories": []}
    (tmp_path / "coco.json").write_text(json.dumps(plain))
    (tmp_path / "r.json").write_text("[]")
    words = ("--gt", f"lvis:{tmp_path / 'coco.json'}", "--results", tmp_path / "r.json")
    for more, says in (
        ((), "is this an LVIS file?"),
        (("--metric", "voc"), "--metric does not apply to LVIS"),
        (("--iou-type", "keypoints"), "bbox or segm"),
        (("--iou-thresh", 0.7), "applies to VOC's metric"),
        (("--split", "val"), "--split applies to folders"),
    ):
        status, out, err = run("evaluate", *words, *more)
        assert (status, out) == (2, "")
        assert says in err, err


def test_a_folder_has_the_annotations_of_its_splits(run, case, tmp_path):
    words, results, expected = case
    (tmp_path / "LVIS/annotations").mkdir(parents=True)
    shutil.copy(tmp_path / "gt.json", tmp_path / "LVIS/annotations/lvis_v1_val.json")
    for name in ("lvis_v1_train", "instances_val2017"):  # of another split, and of COCO
        (tmp_path / f"LVIS/annotations/{name}.json").write_text("{}")
    words = ("--gt", f"lvis:{tmp_path / 'LVIS'}", *words[2:], "--results", results)
    assert run("evaluate", *words, "--split", "val")[0] == 0
    assert json.loads((tmp_path / "o.json").read_text())["AP"] == pytest.approx(expected["AP"], abs=1e-12)
    for more, says in (((), "has several splits"), (("--split", "test"), "has no split test")):
        status, _, err = run("evaluate", *words, *more)
        assert status == 2
        assert says in err.splitlines()[0]
    status, _, err = run("evaluate", "--gt", "lvis:", "--results", results)
    assert "the path of the data set is missing" in err.splitlines()[0]


def test_an_image_without_a_file_name_has_that_of_cocos_server():
    image = {"id": 7, "coco_url": "http://images.cocodataset.org/val2017/000000000007.jpg"}
    source = json.dumps({"images": [image], "annotations": [], "categories": []}).encode()
    assert read_image_names(source) == {7: "val2017/000000000007.jpg"}
