"""Downloads of the zoo's weights: followed, refused, and told."""

import dataclasses
import os

import pytest

from cvzoo.studio.models.fetches import Fetches
from cvzoo.studio.problems import Problem

MEMBER = {"task": "detection", "files": [], "licence": "MIT", "data": "shapes", "data_licence": "CC0", "score": {}}
MEMBER |= {"source": "a paper", "preprocessing": ""}
IS_HERE = "echo '{\"is_here\": true}'"
NO_NETWORK = """echo '{"error": "no URL returned the file"}'; exit 1"""
HALF = """echo '{"done": 5, "total": 10}'"""


@pytest.fixture
def far(studio, client_of, browser, monkeypatch, tmp_path):
    """`far(script)`: (a browser, the downloads) of a studio with a model that is not here; the script downloads it."""
    from cvzoo.studio.api import zoo

    monkeypatch.setenv("CVZOO_HOME", str(tmp_path / "cvzoo"))
    monkeypatch.setattr(zoo, "MIN_FREE", 0)  # whatever the disk of this machine has
    lists = []

    def members():
        return [MEMBER | {"name": "far_net", "here": bool(lists)}, MEMBER | {"name": "near_net", "here": True}]

    monkeypatch.setattr(studio.models.zoo, "members", members)

    def far(script):
        on_end = (lambda: lists.append(1)) if IS_HERE in script else list
        fetches = Fetches(studio.place, studio.clock, on_end, ("sh", "-c", script, "sh"))
        other = client_of(dataclasses.replace(studio, fetches=fetches))
        other.headers.update(browser.headers)
        other.cookies.update(browser.cookies)
        return other, fetches

    return far


@pytest.fixture
def paused(tmp_path):
    """(a script that waits in the middle of the download of a model, `go(name)`, which lets it go on)."""
    for name in ("a", "b", "c", "far_net"):
        os.mkfifo(tmp_path / name)
    # opening a pipe waits until the other end is opened
    return f"{HALF}; cat {tmp_path}/$1; {IS_HERE}", lambda name: (tmp_path / name).write_bytes(b"")


def test_a_download_is_followed_until_the_weights_are_here(far, paused):
    script, go = paused
    browser, fetches = far(script)
    assert "Download" in browser.get("/models/zoo:far_net").text
    answer = browser.post("/api/v1/zoo/far_net:fetch")
    assert answer.status_code == 202
    assert (answer.json()["fetch"]["done"], answer.json()["fetch"]["total"]) == (5, 10)
    page = browser.get("/models/zoo:far_net").text
    assert 'value="0.5"' in page
    assert "/static/fetch.js" in page
    assert browser.post("/models/zoo:far_net/fetch").status_code == 303  # the same one
    go("far_net")
    fetches.join()
    tree = browser.get("/api/v1/zoo/far_net").json()
    assert (tree["here"], tree["fetch"]["error"], tree["key"]) == (True, "", "zoo:far_net")
    assert tree["fetch"]["ended_at"] is not None
    assert "/try?model=zoo:far_net" in browser.get("/models/zoo:far_net").text


def test_no_network_is_told_at_once(far):
    browser, _ = far(NO_NETWORK)
    answer = browser.post("/api/v1/zoo/far_net:fetch")
    assert answer.status_code == 502
    assert answer.json()["detail"] == "far_net cannot be downloaded: no URL returned the file"
    page = browser.post("/models/zoo:far_net/fetch")
    assert page.status_code == 502
    assert "no URL returned the file" in page.text
    assert "no URL returned the file" in browser.get("/api/v1/zoo/far_net").json()["fetch"]["error"]


def test_a_process_that_dies_is_told(far):
    browser, _ = far(f"{HALF} >/dev/null; kill -9 $$")
    assert "exit status -9" in browser.post("/api/v1/zoo/far_net:fetch").json()["detail"]


def test_a_disk_without_room_is_told(far, monkeypatch):
    from cvzoo.studio.api import zoo

    browser, fetches = far("exit 3")
    monkeypatch.setattr(zoo, "MIN_FREE", 1 << 60)
    assert browser.post("/api/v1/zoo/far_net:fetch").status_code == 507
    assert fetches.get("far_net") is None


def test_what_is_here_is_not_downloaded_and_what_is_not_in_the_zoo_is_not_found(far, run_id):
    browser, fetches = far("exit 3")
    assert browser.post("/api/v1/zoo/near_net:fetch").json()["fetch"] is None
    assert browser.post("/api/v1/zoo/none:fetch").status_code == 404
    assert browser.get("/api/v1/zoo/none").status_code == 404
    assert browser.post(f"/models/{run_id}/fetch").status_code == 409
    assert fetches.get("near_net") is None


def test_two_are_downloaded_at_once_and_no_third_one(studio, paused):
    script, go = paused
    ended = []
    fetches = Fetches(studio.place, studio.clock, lambda: ended.append(1), ("sh", "-c", script, "sh"))
    for name in "ab":
        assert fetches.start(name).done == 5
    with pytest.raises(Problem, match="a and b are downloaded now"):
        fetches.start("c")
    for name in "ab":
        go(name)
    fetches.join()
    assert fetches.start("c").name == "c"
    go("c")
    fetches.join()
    assert len(ended) == 3
