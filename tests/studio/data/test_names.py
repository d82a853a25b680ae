"""Names stand where identifiers would: in the audit, in tables of runs, and in the names of jobs."""

import pytest

from cvzoo.studio.data.data_name import data_name
from cvzoo.studio.jobs.spec import TrainSpec


@pytest.fixture
def version(browser, studio, work, dataset):
    made = browser.post(f"/api/v1/datasets/{dataset}/versions", json={"name": "first"}).json()["id"]
    work(studio)
    return studio.data.versions.get(made)


def test_the_audit_shows_names_with_the_identifier_as_title(browser, studio, dataset, version):
    assert browser.patch(f"/api/v1/datasets/{dataset}", json={"licence": "CC0"}).status_code == 200
    page = browser.get("/admin/audit").text
    assert f'title="{version.id}"><a href="/versions/{version.id}">shapes, first</a>' in page
    assert f'title="{dataset}"><a href="/data/{dataset}">shapes</a>' in page
    assert "{&#34;dataset&#34;: &#34;shapes&#34;, &#34;rev&#34;: 1}</code>" in page  # the detail of the version
    browser.delete(f"/api/v1/datasets/{dataset}")
    assert f'title="{dataset}"><a href="/data/{dataset}">shapes</a>' in browser.get("/admin/audit").text
    entry = browser.get("/api/v1/audit?action=version.create").json()["items"][0]
    assert (entry["object"], entry["detail"]["dataset"]) == (version.id, dataset)
    assert version.id in browser.get("/admin/audit.csv").text


def test_data_are_named_as_the_version_that_they_are(browser, studio, version):
    assert data_name(studio.engine, version.data) == "shapes, first"
    file = f"{version.data}/annotations/instances_val.json"
    assert data_name(studio.engine, file) == "shapes, first, annotations/instances_val.json"
    unknown = version.data.replace(version.id, "ve_" + "a" * 16)
    for other in ("voc:shapes", unknown, version.data + "b", ""):
        assert data_name(studio.engine, other) == other
    job = studio.jobs.create("mine", TrainSpec("ssd300", version.data), None)
    for path in ("/", "/jobs", f"/jobs/{job.id}"):
        page = browser.get(path).text
        assert f'title="{version.data}">shapes, first</span>' in page, path


def test_jobs_are_named_after_the_data_that_they_are_of(browser, studio, version, run_id, monkeypatch):
    from cvzoo.studio.api import evaluations, models

    model = studio.models.find(run_id)
    for each in (evaluations, models):
        monkeypatch.setattr(each, "require_loadable", lambda _: None)
    monkeypatch.setattr(evaluations, "why_no_evaluation", lambda *_, **__: {})
    monkeypatch.setattr(models, "why_no_predictions", lambda *_: None)
    answer = browser.post("/api/v1/evaluations", json={"model": run_id, "data": version.data})
    assert studio.jobs.get(answer.json()["id"]).name == f"{model.name} on shapes, first"
    images = f"{studio.place.version(version.id)}/images"
    answer = browser.post(f"/api/v1/models/{run_id}/predictions", json={"images": images})
    assert studio.jobs.get(answer.json()["id"]).name == f"{model.name} on shapes, first, images"
    assert "shapes, first" in browser.get("/evaluations").text
