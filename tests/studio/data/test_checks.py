"""Checks and versions of data sets whose images were checked before."""

import json

import pytest

from cvzoo.studio.data.task_order import write_order


@pytest.fixture
def path(dataset):
    return f"/api/v1/datasets/{dataset}"


def edit(browser, path, box):
    """Adds a box to image 0."""
    item = browser.get(f"{path}/images/0").json()
    objects = [*item["labels"], {"id": "added", "class": "cat", "box": box}]
    body = {"edit_id": "an-edit-1", "base": item["first_rev"], "objects": objects}
    assert browser.put(f"{path}/images/0/labels", json=body).status_code == 200


def kinds(browser, path):
    return {each["kind"] for each in browser.get(f"{path}/findings").json()["counts"]}


def check(studio, work, dataset, rev):
    studio.data.tasks.create("check", dataset, rev)
    work(studio)


def test_the_check_of_an_older_revision_leaves_the_findings_of_a_newer_one(browser, studio, work, dataset, path):
    edit(browser, path, [3, 3, 3, 9])
    check(studio, work, dataset, 2)
    assert "box-empty" in kinds(browser, path)
    check(studio, work, dataset, 1)
    assert "box-empty" in kinds(browser, path)
    assert browser.get(path).json()["checked_rev"] == 2


def test_what_the_import_saw_is_what_the_next_check_needs(browser, studio, work, dataset, path, monkeypatch):
    from cvzoo.studio.worker import check_data

    seen = []
    plain = check_data.known_facts
    monkeypatch.setattr(check_data, "known_facts", lambda store, sha256: seen.append(sha256) or plain(store, sha256))
    check(studio, work, dataset, 1)
    assert seen == []
    edit(browser, path, [3, 3, 9, 9])
    check(studio, work, dataset, 2)
    assert seen == [browser.get(f"{path}/images/0").json()["sha256"]]


def test_a_version_after_an_edit_was_reverted_is_the_one_before(browser, studio, work, path):
    first = browser.post(f"{path}/versions", json={"name": "first"}).json()
    work(studio)
    edit(browser, path, [3, 3, 9, 9])
    other = browser.post(f"{path}/versions", json={"name": "other"})
    assert other.status_code == 202
    work(studio)
    assert browser.post(f"{path}:revert", json={"rev": 1}).status_code == 200
    again = browser.post(f"{path}/versions", json={"name": "again"})
    assert again.status_code == 200
    assert again.json()["id"] == first["id"]
    contents = [browser.get(f"/api/v1/versions/{each['id']}").json()["content"] for each in (first, other.json())]
    assert contents[0] == studio.data.versions.content(path.rpartition("/")[2], 1, "boxes")
    assert len(set(contents)) == 2


def test_a_task_that_an_older_server_left_is_done(browser, studio, work, dataset, path):
    task = studio.data.tasks.create("check", dataset, 1)
    (open_task,) = studio.data.tasks.open()
    folder = studio.place.task(task)
    folder.mkdir()
    write_order(studio.engine, studio.clock, studio.place, open_task, folder)
    order = json.loads((folder / "order.json").read_text())
    del order["kept"]
    (folder / "order.json").write_text(json.dumps(order))
    work(studio)
    assert studio.data.tasks.open() == []


def test_a_box_that_exceeds_its_image_is_not_taken_for_two_corners(browser, studio, work, dataset, path):
    item = browser.get(f"{path}/images/0").json()
    box = item["labels"][0] | {"box": [30, 45, 70, 60]}  # of 60 x 80 pixels; y before x
    body = {"edit_id": "an-edit-1", "base": 1, "objects": [box]}
    assert browser.put(f"{path}/images/0/labels", json=body).status_code == 200
    check(studio, work, dataset, 2)
    assert kinds(browser, path) == {"box-outside"}
