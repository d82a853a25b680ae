"""Predictions of many images as a job, with the job's own command line."""

import json
import subprocess

import numpy as np
import pytest
from PIL import Image

from cvzoo.studio.jobs.conductor import Conductor
from cvzoo.studio.jobs.spec import PredictSpec, argv_of, spec_from_json


@pytest.fixture(autouse=True)
def zoo(studio, monkeypatch):
    monkeypatch.setattr(studio.models.zoo, "members", list)


@pytest.fixture
def images(tmp_path):
    folder = tmp_path / "-images"  # no option
    folder.mkdir()
    for i in range(3):
        Image.fromarray(np.full((32, 32, 3), 40 * i, np.uint8)).save(folder / f"{i}.png")
    return folder


@pytest.fixture
def model(watched):
    from cvzoo.config import set_seed
    from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
    from cvzoo.serializers.model_file import save_model

    set_seed(0)
    save_model(watched / "first" / "best.safetensors", CIFARResNet(20, label_names=("cat", "dog")))


@pytest.mark.parametrize("form", ["jsonl", "csv", "coco"])
def test_a_specification_is_read_back(form):
    spec = PredictSpec("best.safetensors", "wr_a", "ab", "/images", form)
    assert spec_from_json(json.loads(json.dumps(spec.to_json()))) == spec
    assert spec_from_json(spec.to_json() | {"form": "exe"}) is None


def test_the_job_predicts_all_images_of_a_folder(browser, studio, run_id, model, images):
    answer = browser.post(f"/api/v1/models/{run_id}/predictions", json={"images": str(images), "form": "csv"})
    assert answer.status_code == 201
    job = studio.jobs.get(answer.json()["id"])
    run = studio.place.run(job.id)
    assert not job.spec.is_done(run)
    done = subprocess.run(argv_of(job.spec, run), capture_output=True, text=True, cwd=run)
    assert done.returncode == 0, done.stderr
    assert job.spec.is_done(run)
    assert run.joinpath("predictions.jsonl").read_text().count("\n") == 3
    page = browser.get(f"/jobs/{job.id}").text
    for name in ("predictions.jsonl", "predicted/results.csv"):
        assert f"/api/v1/jobs/{job.id}/files/{name}?download=true" in page
        assert browser.get(f"/api/v1/jobs/{job.id}/files/{name}?download=true").status_code == 200
    assert f"/jobs/{job.id}" in browser.get(f"/models/{run_id}").text
    assert f"/predictions/{job.id}" in page
    tree = browser.get(f"/api/v1/predictions/{job.id}").json()
    assert [row["kind"] for row in tree["items"]] == ["classes"] * 3
    assert sum(n for _, n in tree["classes"]) == 3
    image = browser.get(f"/api/v1/predictions/{job.id}/images/0")
    assert image.content in {path.read_bytes() for path in images.iterdir()}
    assert "3 images" in browser.get(f"/predictions/{job.id}").text


def test_by_the_form_it_is_queued_and_a_mistake_is_told_at_its_field(browser, studio, run_id, model, images):
    path = f"/models/{run_id}/predictions"
    refused = browser.post(path, data={"predicted": "/nothing/here", "form": "coco"})
    assert refused.status_code == 422
    assert "/nothing/here does not exist" in refused.text
    assert 'value="/nothing/here"' in refused.text
    answer = browser.post(path, data={"predicted": str(images), "form": "csv"})
    assert answer.status_code == 303
    (job,) = studio.jobs.all()
    assert (job.spec.images, job.spec.form) == (str(images), "csv")
    assert "--save-format csv" in browser.get(answer.headers["location"]).text


def test_after_a_killed_attempt_the_data_set_is_written_anew(studio, images):
    job = studio.jobs.create("", PredictSpec("retinanet_text", "zoo:retinanet_text", "", str(images), "coco"), None)
    run = studio.place.run(job.id)
    (run / "predicted" / "coco" / "annotations").mkdir(parents=True)  # by which `cvzoo predict` refuses the folder
    Conductor(studio.jobs, studio.place).tick()
    assert studio.jobs.get(job.id).state == "starting"
    assert not (run / "predicted").exists()


@pytest.mark.parametrize("body", [{"images": ""}, {"images": "/nothing/here"}, {"images": "a\0b"}, {}])
def test_without_images_nothing_is_queued(browser, studio, run_id, model, body):
    assert browser.post(f"/api/v1/models/{run_id}/predictions", json=body).status_code == 422
    assert studio.jobs.all() == []


def test_an_unknown_form_is_refused(browser, studio, run_id, model, images):
    body = {"images": str(images), "form": "exe"}
    assert browser.post(f"/api/v1/models/{run_id}/predictions", json=body).status_code == 422


def predicted(studio, images, rows):
    job = studio.jobs.create("many", PredictSpec("m", "zoo:m", "", str(images), "jsonl"), None)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (studio.place.run(job.id) / "predictions.jsonl").write_text(text)
    return job.id


def classified(path, *scores):
    classes = [{"rank": i + 1, "label": i, "name": name, "score": score} for i, (name, score) in enumerate(scores)]
    return {"photo": str(path), "height": 32, "width": 32, "picture": None, "classes": classes}


def test_images_of_a_class_come_by_their_score_and_folders_tell_what_is_right(browser, studio, tmp_path):
    rows = [
        classified(tmp_path / "cat" / "0.png", ("cat", 0.6), ("dog", 0.4)),
        classified(tmp_path / "dog" / "1.png", ("cat", 0.9), ("dog", 0.1)),
        classified(tmp_path / "dog" / "2.png", ("dog", 0.8), ("cat", 0.2)),
        classified(tmp_path / "other" / "3.png", ("cat", 0.7), ("dog", 0.3)),
    ]
    job = predicted(studio, tmp_path, rows)
    tree = browser.get(f"/api/v1/predictions/{job}?label=cat&limit=2").json()
    assert [row["index"] for row in tree["items"]] == [1, 3]
    assert (tree["next"], tree["total"], tree["classes"]) == (2, 3, [["cat", 3], ["dog", 1]])
    assert [row["index"] for row in browser.get(f"/api/v1/predictions/{job}?label=cat&after=2").json()["items"]] == [0]
    assert tree["accuracy"] == 2 / 3
    assert tree["confusion"] == {"names": ["cat", "dog"], "counts": [[1, 0], [1, 1]]}
    page = browser.get(f"/predictions/{job}?label=cat").text
    assert "0.6667" in page
    assert '<span class="badge failed">dog</span>' in page
    assert browser.get(f"/api/v1/predictions/{job}?label=cow").json()["items"] == []


def test_objects_are_drawn_and_only_images_that_were_asked_for_are_served(browser, studio, images, tmp_path):
    (tmp_path / "secret.png").write_bytes((images / "0.png").read_bytes())
    sides = {"y_min": 1.5, "x_min": 2, "y_max": 9, "x_max": 12}
    found = {"photo": str(images / "0.png"), "height": 32, "width": 32, "picture": None}
    rows = [
        found | {"objects": [{"label": 0, "name": "cat", "score": 0.5, **sides}, {"label": 1, "name": "dog"}]},
        found | {"photo": str(images / ".." / "secret.png"), "objects": []},
        found | {"photo": str(tmp_path / "secret.png"), "objects": [{"name": None, "label": 3, "score": None}]},
        {"photo": 5},
    ]
    job = predicted(studio, images, rows)
    page = browser.get(f"/predictions/{job}").text
    assert '<rect x="2.0" y="1.5"' in page.replace('x="2"', 'x="2.0"')
    assert [browser.get(f"/api/v1/predictions/{job}/images/{i}").status_code for i in range(4)] == [200, 404, 404, 404]
    assert browser.get(f"/api/v1/predictions/{job}").json()["accuracy"] is None


def test_predictions_that_have_not_begun_are_none(browser, studio, images):
    job = studio.jobs.create("many", PredictSpec("m", "zoo:m", "", str(images), "jsonl"), None)
    assert browser.get(f"/api/v1/predictions/{job.id}").json()["items"] == []
    assert "No image was predicted on yet" in browser.get(f"/predictions/{job.id}").text
    assert browser.get("/api/v1/predictions/jb_" + "a" * 16).status_code == 404
