"""Models of runs and of the zoo, their cards, files and exports."""

import json

import pytest

from cvzoo.studio.jobs.spec import ExportSpec
from cvzoo.weights.formats.safetensors import write_safetensors

MEMBER = {
    "name": "tiny_net",
    "task": "detection",
    "here": True,
    "files": [],
    "licence": "MIT",
    "data": "shapes",
    "data_licence": "CC0",
    "score": {"AP": 0.5},
    "source": "a paper",
    "preprocessing": {"size": 300},
}


@pytest.fixture(autouse=True)
def zoo(studio, monkeypatch):
    members = [MEMBER, MEMBER | {"name": "far_net", "here": False, "task": "classification"}]
    monkeypatch.setattr(studio.models.zoo, "members", lambda: members)


@pytest.fixture
def header(watched):
    """The best model of the run "first" has a header."""
    own = {"version": 1, "architecture": "SSD", "settings": {"presets": {"deploy": [0.45, 0.2, [0.2, 0.4]]}}}
    own |= {"label_names": ["cat", "dog"], "preprocessing": {}}
    path = watched / "first" / "best.safetensors"
    write_safetensors(path, {}, metadata={"cvzoo_model": json.dumps(own)})


def test_the_list_has_best_models_and_the_zoo(browser, run_id):
    tree = browser.get("/api/v1/models").json()
    assert {each["name"] for each in tree["items"]} == {"first", "cats/second"}
    assert [each["key"] for each in tree["zoo"]] == ["zoo:tiny_net", "zoo:far_net"]
    page = browser.get("/models").text
    assert f"/models/{run_id}" in page
    assert "far_net" in page
    assert "far_net" not in browser.get("/models?here=true").text
    assert "tiny_net" not in browser.get("/models?task=classification").text


def test_a_card_has_provenance_thresholds_and_scores(browser, run_id, header):
    card = browser.get(f"/api/v1/models/{run_id}").json()["card"]
    facts = dict(card["facts"])
    assert facts["Data"] == "voc:shapes"
    assert facts["Network"] == "SSD"
    assert facts["Command"].startswith("cvzoo train --recipe ssd300")
    assert len(facts["SHA-256"]) == 64
    assert card["thresholds"] == {"deploy": {"nms": 0.45, "score": 0.2, "classes": [0.2, 0.4]}}
    assert card["scores"] == [["validation/main/map, epoch 2", "0.6"]]
    page = browser.get(f"/models/{run_id}").text
    assert "cat 0.2, dog 0.4" in page


def test_a_card_shows_short_names_of_scores_and_counts_in_words(browser, run_id, watched, header):
    long = "validation/main/map/iou=0.50:0.95/area=all/max_dets=100"
    for name in ("metrics.jsonl", "status.json"):
        path = watched / "first" / name
        path.write_text(path.read_text().replace("validation/main/map", long))
    own = {"version": 1, "architecture": "SSD", "settings": {}, "label_names": ["cat"], "preprocessing": {}}
    path = watched / "first" / "best.safetensors"
    write_safetensors(path, {}, metadata={"cvzoo_model": json.dumps(own)})
    (watched / "first" / "data.json").write_text(json.dumps({"train": {"n_example": 1}, "val": {"n_example": 1e308}}))
    page = browser.get(f"/models/{run_id}").text
    assert f'<dt title="{long}, epoch 2">map, iou 0.50:0.95, epoch 2</dt>' in page
    assert browser.get(f"/api/v1/models/{run_id}").json()["card"]["scores"] == [[f"{long}, epoch 2", "0.6"]]
    assert "<summary>1 class</summary>" in page
    assert '<th scope="row">Data, train</th><td class="wrap">1 image</td>' in page
    assert '<dt title="AP">AP</dt>' in browser.get("/models/zoo:tiny_net").text


def test_a_damaged_file_is_told_on_its_card(browser, run_id, watched):
    (watched / "first" / "best.safetensors").write_bytes(b'\x10\0\0\0\0\0\0\0{"cvzoo_model": 1')
    assert browser.get(f"/models/{run_id}").status_code == 200


def test_a_model_of_the_zoo_has_a_card(browser):
    page = browser.get("/models/zoo:far_net").text
    assert "CC0" in page
    assert "cvzoo predict IMAGE --model far_net" in page
    assert "Export to ONNX" not in page


def test_the_file_is_an_attachment_with_the_run_s_name(browser, studio):
    key = next(each.id for each in studio.runs.records() if each.name == "cats/second")
    answer = browser.get(f"/api/v1/models/{key}/file")
    assert answer.content == b"weights"
    assert 'filename="cats-second-best.safetensors"' in answer.headers["content-disposition"]
    assert browser.get("/api/v1/models/zoo:tiny_net/file").status_code == 404


@pytest.mark.parametrize("key", ["wr_" + "a" * 16, "jb_" + "a" * 16, "zoo:none", "zoo:../../etc", "x", "%2e%2e"])
def test_an_unknown_model_is_not_found(browser, key):
    assert browser.get(f"/api/v1/models/{key}").status_code == 404
    assert browser.get(f"/models/{key}").status_code == 404


def test_an_export_is_a_job_whose_command_is_shown(browser, run_id, studio, watched):
    answer = browser.post(f"/models/{run_id}/exports", data={"form": "onnx"})
    assert answer.status_code == 303
    (job,) = studio.jobs.all()
    best = str(watched / "first" / "best.safetensors")
    assert isinstance(job.spec, ExportSpec)
    assert job.spec.words(studio.place.run(job.id))[-1] == best
    page = browser.get(answer.headers["location"]).text
    assert "cvzoo export --format onnx" in page
    assert best in page
    assert "first" not in [each["name"] for each in browser.get("/api/v1/jobs?text=onnx").json()["items"]]
    assert studio.models.find(job.id) is None  # not yet
    (studio.place.run(job.id) / "model.onnx").write_bytes(b"onnx")
    assert browser.get(f"/api/v1/models/{job.id}/file").content == b"onnx"
    assert browser.post("/api/v1/predict?model=" + job.id, content=b"x").status_code == 409


def test_int8_needs_images_that_exist(browser, run_id, studio, tmp_path):
    for images, words in (("", "needs images"), (str(tmp_path / "none"), "does not exist")):
        answer = browser.post(f"/models/{run_id}/exports", data={"form": "int8", "images": images})
        assert answer.status_code == 422
        assert words in answer.text
    assert studio.jobs.all() == []
    body = {"form": "int8", "images": [str(tmp_path)]}
    job = browser.post(f"/api/v1/models/{run_id}/exports", json=body).json()["id"]
    assert studio.jobs.get(job).spec.images == (str(tmp_path),)


def test_what_is_not_here_is_not_exported(browser):
    answer = browser.post("/api/v1/models/zoo:far_net/exports", json={"form": "onnx"})
    assert answer.status_code == 409
    assert "not on this machine" in answer.json()["detail"]


def test_the_zoo_is_asked_of_the_command_line():
    from cvzoo.studio.models.zoo import Zoo

    zoo = Zoo()
    assert zoo.member("retinanet_text")["here"] is True
    assert zoo.members() is zoo.members()
