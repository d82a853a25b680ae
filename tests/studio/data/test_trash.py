"""Deleted data sets: gone everywhere, restored with all they had, and deleted for good after 30 days."""

import pytest

from cvzoo.studio.access.tickets import new_ticket
from cvzoo.studio.access.users import add_user
from cvzoo.studio.trash import KEPT_MS


@pytest.fixture
def version(browser, studio, work, dataset):
    """The identifier of a version of the data set."""
    answer = browser.post(f"/api/v1/datasets/{dataset}/versions", json={"name": "first"})
    work(studio)
    return answer.json()["id"]


def names(browser):
    return [each["name"] for each in browser.get("/api/v1/datasets").json()["items"]]


def restore(browser, dataset):
    assert browser.post(f"/api/v1/trash/{dataset}:restore").status_code == 204


def test_a_deleted_data_set_is_gone_and_comes_back_with_all_it_had(browser, studio, work, dataset, version):
    before = browser.get(f"/api/v1/datasets/{dataset}").json()
    assert browser.post(f"/data/{dataset}/delete", data={"name": "shapes"}).status_code == 303
    for path in (f"/data/{dataset}", f"/data/{dataset}/images/0", f"/api/v1/versions/{version}"):
        assert browser.get(path).status_code == 404, path
    assert names(browser) == []
    assert studio.data.versions.ready() == []
    assert (studio.place.version(version) / "annotations").is_dir()  # for the runs that were trained on it
    (row,) = browser.get("/api/v1/trash").json()["items"]
    assert (row["id"], row["name"], row["kind"]) == (dataset, "shapes", "data set")
    assert "Restore shapes" in browser.get("/trash").text
    assert browser.post(f"/trash/{dataset}", data={"action": "restore"}).status_code == 303
    work(studio)
    after = browser.get(f"/api/v1/datasets/{dataset}").json()
    for key in ("name", "classes", "splits", "head_rev", "trashed_at"):
        assert after[key] == before[key], key
    assert browser.get(f"/api/v1/versions/{version}").json()["state"] == "ready"
    assert browser.get("/api/v1/trash").json()["items"] == []


def test_its_name_is_free_and_a_restored_one_gets_a_number(browser, studio, work, dataset):
    browser.delete(f"/api/v1/datasets/{dataset}")
    assert browser.post("/api/v1/datasets", json={"name": "shapes", "source": {"sample": 4}}).status_code == 202
    work(studio)
    restore(browser, dataset)
    assert browser.get(f"/api/v1/datasets/{dataset}").json()["name"] == "shapes 2"


def test_it_is_deleted_for_good_after_thirty_days(browser, studio, dataset, version, clock):
    browser.delete(f"/api/v1/datasets/{dataset}")
    clock.now += KEPT_MS - 1
    studio.trash.tick()
    assert len(studio.data.datasets.trashed()) == 1
    clock.now += 1
    studio.trash.tick()
    assert studio.data.datasets.trashed() == []
    assert studio.data.versions.get(version) is None
    assert studio.data.datasets.restore(dataset) is False


def test_the_work_on_it_ends(browser, studio, work, dataset):
    browser.post(f"/api/v1/datasets/{dataset}/versions", json={"name": "never"})
    assert studio.data.tasks.open(dataset)
    browser.delete(f"/api/v1/datasets/{dataset}")
    assert studio.data.tasks.open(dataset) == []
    assert list(studio.place.tasks.iterdir()) == []
    restore(browser, dataset)
    (version,) = studio.data.versions.of(dataset)
    assert (version.state, version.detail) == ("failed", "the data set was deleted")


def test_only_who_made_it_or_an_administrator_restores_it(browser, stranger, studio, dataset):
    browser.delete(f"/api/v1/datasets/{dataset}")
    user = add_user(studio.engine, "ada", "annotator", studio.clock).id
    stranger.headers["sec-fetch-site"] = "same-origin"
    stranger.post("/open", data={"ticket": new_ticket(studio.engine, studio.clock, user)})
    assert stranger.post(f"/api/v1/trash/{dataset}:restore").status_code == 403
    restore(browser, dataset)


def uploaded(browser, studio, name="broken.tar"):
    """The identifier of an upload that is no archive."""
    upload = studio.data.uploads.create(name, 4, "me")
    address = f"/api/v1/uploads/{upload.id}"
    headers = {"tus-resumable": "1.0.0", "upload-offset": "0", "content-type": "application/offset+octet-stream"}
    assert browser.patch(address, content=b"none", headers=headers).status_code == 204
    return upload.id


def imported(browser, name, upload):
    answer = browser.post("/api/v1/datasets", json={"name": name, "source": {"uploads": [upload]}})
    assert answer.status_code == 202
    return answer.json()["id"]


def test_one_that_is_being_imported_is_restored_and_imported_again(browser, studio, work):
    upload = uploaded(browser, studio)
    dataset = imported(browser, "late", upload)
    assert browser.delete(f"/api/v1/datasets/{dataset}").status_code == 204
    assert studio.data.tasks.open() == []
    assert studio.place.upload(upload).is_file()
    restore(browser, dataset)
    found = browser.get(f"/api/v1/datasets/{dataset}").json()
    assert (found["name"], found["state"], found["detail"]) == ("late", "failed", "the data set was deleted")
    assert browser.get(f"/data/{dataset}").status_code == 200
    assert browser.post(f"/api/v1/datasets/{dataset}:import-again").status_code == 202
    work(studio)
    assert "neither a tar nor a zip archive" in browser.get(f"/api/v1/datasets/{dataset}").json()["detail"]


def test_what_was_uploaded_for_one_that_was_never_imported_goes_with_it_for_good(browser, studio):
    upload = uploaded(browser, studio)
    dataset = imported(browser, "late", upload)
    browser.delete(f"/api/v1/datasets/{dataset}")
    assert browser.delete(f"/api/v1/trash/{dataset}").status_code == 204
    assert list(studio.place.uploads.iterdir()) == []
    assert studio.data.uploads.get(upload) is None
    assert studio.data.datasets.trashed() == []


def test_one_that_is_restored_while_the_trash_is_emptied_stays(browser, studio, dataset):
    browser.delete(f"/api/v1/datasets/{dataset}")
    (due,) = studio.data.datasets.trashed()
    restore(browser, dataset)
    studio.data.tasks.purge(due)
    assert browser.get(f"/api/v1/datasets/{dataset}").json()["n_image"] == 10
