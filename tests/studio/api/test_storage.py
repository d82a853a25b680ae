"""What is stored, what is removed of it, and backups that a running server writes."""

import dataclasses
import os
import threading

import pytest

from cvzoo.errors.exceptions import FileError

HOUR_NS = 3600 * 10**9


@pytest.fixture
def making(studio, client_of, browser):
    """`making(make)`: a browser of the same studio whose backups are written by `make`."""

    def making(make):
        from cvzoo.studio.backups import Backups

        other = client_of(dataclasses.replace(studio, backups=Backups(studio.place, studio.clock, make)))
        other.headers.update(browser.headers)
        other.cookies.update(browser.cookies)
        return other, other.app.state.studio.backups

    return making


def test_storage_counts_a_file_with_two_names_once(browser, studio):
    from cvzoo.studio.api.storage import storage

    (studio.place.home / "images" / "one").write_bytes(b"12345")
    (studio.place.home / "versions" / "two").hardlink_to(studio.place.home / "images" / "one")
    found = {each["name"]: each for each in storage(studio.place.home)}
    assert found["images"]["n_byte"] + found["versions"]["n_byte"] == 5
    assert {each["name"] for each in browser.get("/api/v1/storage").json()["items"]} == set(found)


def test_a_backup_is_written_beside_the_server_and_listed(browser, studio):
    from cvzoo.studio.backup import read_backup

    begun = browser.post("/api/v1/backups", json={})
    assert begun.status_code == 202
    studio.backups.join()
    tree = browser.get("/api/v1/backups").json()
    (item,) = tree["items"]
    path = studio.place.backups / item["name"]
    assert (item["kind"], item["n_byte"]) == ("all", path.stat().st_size)
    assert tree["last"] == begun.json() | {"ended_at": studio.clock.now}
    with open(path, "rb") as file:
        assert read_backup(file, path).missing == ()
    assert item["name"] in browser.get("/admin").text
    assert browser.get("/api/v1/audit?action=backup").json()["items"][0]["object"] == item["name"]


def test_the_server_answers_while_a_backup_is_written_and_begins_no_second_one(making):
    go = threading.Event()
    browser, backups = making(lambda *_, **__: go.wait(60))
    assert browser.post("/admin/backups").status_code == 303
    assert "is being written since" in browser.get("/admin").text
    assert browser.post("/api/v1/backups", json={}).status_code == 409
    assert browser.post("/admin/backups").status_code == 409
    go.set()
    backups.join()
    assert browser.get("/api/v1/backups").json()["last"]["error"] == ""
    assert browser.post("/api/v1/backups", json={}).status_code == 202
    backups.join()


@pytest.mark.parametrize(
    "error", [FileError("it would lack images/aa", hint="an older one"), OSError(28, "full"), KeyError("x")]
)
def test_why_a_backup_was_not_written_is_told(making, error):
    asked = []

    def make(*_, **options):
        asked.append(options)
        raise error

    browser, backups = making(make)
    assert browser.post("/admin/backups", data={"incomplete": "true"}).status_code == 303
    backups.join()
    said = browser.get("/api/v1/backups").json()["last"]["error"]
    assert asked == [{"is_incomplete_allowed": True}]
    assert said.startswith(("it would lack images/aa, try: an older one", "[Errno 28] full", "the server could not"))
    assert "was not written" in browser.get("/admin").text


def test_what_a_killed_server_did_not_finish_is_removed_at_the_next_start(studio):
    part = studio.place.backups / ".studio-2026-11-28T090000.tar.part"
    part.write_bytes(b"half")
    studio.backups.clean()
    assert not part.exists()


def test_what_can_be_removed_is_shown_before_it_is(browser, studio):
    assert "There is nothing to remove." in browser.post("/admin/collect").text
    folder = studio.place.tasks / f"tk_{'a' * 16}"
    folder.mkdir()
    then = studio.clock.now * 10**6 - 2 * HOUR_NS
    os.utime(folder, ns=(then, then))
    page = browser.post("/admin/collect").text
    assert "folders of ended work" in page
    assert "Remove it" in page
    assert folder.exists()
    assert "were removed" in browser.post("/admin/collect", data={"dry": "false"}).text
    assert not folder.exists()
    actions = [each["action"] for each in browser.get("/api/v1/audit?action=storage").json()["items"]]
    assert actions == ["storage.collect"]
