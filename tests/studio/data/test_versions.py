"""Names of the versions of a data set."""

import pytest

from cvzoo.studio.data.versions import finish_version
from cvzoo.studio.database.engine import writing


@pytest.fixture
def path(dataset):
    return f"/data/{dataset}"


@pytest.fixture
def make(browser, dataset):
    """`make(name)`: the answer of the REST interface."""
    return lambda name: browser.post(f"/api/v1/datasets/{dataset}/versions", json={"name": name})


@pytest.fixture
def edit(browser, dataset):
    """`edit()`: an object less, so that the content is another."""

    def edit():
        address = f"/api/v1/datasets/{dataset}/images/0"
        item = browser.get(address).json()
        put = {"edit_id": "edit-0001", "base": item["first_rev"], "objects": item["labels"][1:]}
        assert browser.put(f"{address}/labels", json=put).status_code == 200

    return edit


def test_a_name_that_another_version_has_is_refused(make, edit, work, studio, dataset):
    assert make("v1").status_code == 202
    work(studio)
    edit()
    answer = make(" v1 ")
    assert answer.status_code == 409
    assert answer.json()["detail"] == "there is a version v1 of this data set already"
    assert answer.json()["fields"] == {"name": "a version of this data set has this name"}
    assert [each.name for each in studio.data.versions.of(dataset)] == ["v1"]
    assert make("v2").status_code == 202


def test_a_name_of_another_data_set_is_free(make, browser, work, studio):
    assert make("v1").status_code == 202
    other = browser.post("/api/v1/datasets", json={"name": "receipts", "source": {"sample": 5}}).json()["id"]
    work(studio)
    assert browser.post(f"/api/v1/datasets/{other}/versions", json={"name": "v1"}).status_code == 202


def test_what_is_sent_twice_gives_one_version(make, work, studio):
    first = make("v1")
    again = make("v1")
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])
    work(studio)
    assert (make("v1").status_code, make("v1").json()["state"]) == (200, "ready")


def test_a_version_that_failed_is_made_again_under_its_name(make, edit, work, studio):
    failed = make("v1").json()["id"]
    work(studio)
    with writing(studio.engine) as connection:
        finish_version(connection, failed, "failed", "the disk is full", "")
    again = make("v1")
    assert (again.status_code, again.json()["name"]) == (202, "v1")
    assert again.json()["id"] != failed
    work(studio)
    edit()
    assert make("v1").status_code == 409


def test_a_taken_name_is_told_at_its_field_which_keeps_it(make, edit, browser, work, studio, path):
    make("v1")
    work(studio)
    edit()
    answer = browser.post(f"{path}/versions", data={"name": "v1"})
    assert answer.status_code == 409
    field = '<input type="text" id="version-name" name="name" value="v1" maxlength="120" placeholder="revision 2"'
    assert f'{field} aria-invalid="true" aria-describedby="version-name-error" autofocus>' in answer.text
    assert '<p class="error" id="version-name-error" role="alert">a version of this data set has this name</p>' in (
        answer.text
    )


def test_a_version_without_a_name_is_named_after_its_revision(browser, work, studio, path, dataset, edit):
    answer = browser.post(f"{path}/versions", data={"name": " "})
    assert answer.status_code == 303
    work(studio)
    edit()
    browser.post(f"{path}/versions", data={"name": ""})
    assert {each.name for each in studio.data.versions.of(dataset)} == {"revision 1", "revision 2"}


def test_the_page_says_that_unchanged_content_is_an_older_version(make, browser, work, studio, path):
    first = make("v1").json()["id"]
    words = "The content is that of v1, so no new version was made."
    answer = browser.post(f"{path}/versions", data={"name": "v1"})  # sent twice
    assert words not in browser.get(answer.headers["location"]).text
    work(studio)
    answer = browser.post(f"{path}/versions", data={"name": "v2"})
    assert answer.status_code == 303
    assert answer.headers["location"].startswith(f"/versions/{first}?")
    assert f'<p class="note" role="status">{words}</p>' in browser.get(answer.headers["location"]).text
    assert words not in browser.get(f"/versions/{first}").text
