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
