"""What the preview of a training tells of its data."""

import json

import pytest
from sqlalchemy import update

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.studio.api import actions
from cvzoo.studio.data.about_training import LEAKS, known_of
from cvzoo.studio.database.engine import writing
from cvzoo.studio.database.tables import DATASET
from cvzoo.studio.jobs import recipe_helper
from cvzoo.studio.pages import new_training

FOUND = {"sheet": "/9j/", "rates": [[0, 0.001], [9, 0.0]], "n_update": 10, "reach": None}


def test_leaks_are_findings_of_the_doctor():
    assert {*LEAKS} == {each.slug for each in Fault if each.slug.endswith(("two-splits", "duplicate-split"))}


@pytest.fixture
def leaky(browser, studio, work, tmp_path, write_coco):
    """A version of whose validation images one is a training image, too, and none has a dog."""
    root = write_coco(tmp_path / "leaky", boxes=1)
    images = root / "images"
    (images / "4.png").write_bytes((images / "0.png").read_bytes())
    file = root / "annotations" / "instances_val.json"
    tree = json.loads(file.read_text())
    for each in tree["annotations"]:
        each["category_id"] = 1
    file.write_text(json.dumps(tree))
    source = {"spec": f"coco:{tmp_path}/leaky"}
    dataset = browser.post("/api/v1/datasets", json={"name": "leaky", "source": source}).json()["id"]
    work(studio)
    browser.patch(f"/api/v1/datasets/{dataset}/findings", json={"kind": "photo-duplicate-split", "reason": "known"})
    version = browser.post(f"/api/v1/datasets/{dataset}/versions", json={"name": "v"}).json()["id"]
    work(studio)
    return studio.data.versions.get(version)


@pytest.fixture(autouse=True)
def without_networks(monkeypatch):
    recipe = {"name": "ssd300", "task": "boxes", "summary": "", "fields": []}
    monkeypatch.setattr(recipe_helper, "_listing", lambda: {"recipes": [recipe]})
    for each in (actions, new_training):
        monkeypatch.setattr(each, "preview", lambda *_: {"fields": {}, "preview": FOUND})


def test_a_preview_tells_of_leaks_and_of_classes_that_a_split_lacks(browser, studio, leaky):
    assert leaky.state == "ready"
    known = browser.post("/api/v1/recipes/ssd300:preview", json={"data": leaky.data}).json()["known"]
    assert (known["dataset"], known["rev"], known["version_rev"]) == (leaky.dataset, 1, 1)
    assert [(each["kind"], each["n_open"], each["n_waived"]) for each in known["leaks"]] == [
        ("photo-duplicate-split", 0, 1)
    ]
    assert known["lacking"] == {"val": ["dog"]}
    page = browser.post("/jobs/new", data={"recipe": "ssd300", "data": leaky.data, "action": "preview"}).text
    assert f'href="/data/{leaky.dataset}/findings?kind=photo-duplicate-split"' in page
    assert "1 waived" in page
    assert "no objects in val: dog" in page


def test_a_preview_says_of_which_revision_it_knows(browser, studio, work, leaky):
    dataset = leaky.dataset
    browser.patch(f"/api/v1/datasets/{dataset}/images", json={"ordinals": [4], "delete": True})
    known = known_of(studio.data, leaky.data)
    assert (known["rev"], known["version_rev"], known["is_checked"]) == (2, 1, False)
    with writing(studio.engine) as connection:
        connection.execute(update(DATASET).where(DATASET.c.id == dataset).values(checked_rev=2))
    assert known_of(studio.data, leaky.data)["is_checked"]


def test_a_preview_of_sound_data_says_so_and_one_of_a_folder_says_nothing(browser, studio, work, dataset):
    version = browser.post(f"/api/v1/datasets/{dataset}/versions", json={"name": "v"}).json()["id"]
    work(studio)
    data = studio.data.versions.get(version).data
    page = browser.post("/jobs/new", data={"recipe": "ssd300", "data": data, "action": "preview"}).text
    assert "No leaks between the splits" in page
    assert known_of(studio.data, "voc:elsewhere") is None
