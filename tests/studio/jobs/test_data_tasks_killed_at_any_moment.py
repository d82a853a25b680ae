"""Processes that import, check, split and make versions are killed at forty random moments each: nothing is lost."""

import base64
import contextlib
import io
import json
import os
import pathlib
import random
import signal
import tarfile
import threading
import time

import numpy as np
import pytest
from PIL import Image

from cvzoo.studio.ids import new_id

pytestmark = pytest.mark.slow
N_KILL, N_IMAGE = 40, 60
_WAIT_S = 900


class Killer:
    """Ticks the tasks of a studio, and kills their processes at random moments until it has killed often enough."""

    def __init__(self, studio, seed):
        self.studio, self.moments = studio, random.Random(seed)
        self.n, self.seen, self.due = 0, None, 0.0
        self.end = time.monotonic() + _WAIT_S

    def until_done(self):
        """Until no task is open."""
        tasks = self.studio.data.tasks
        while tasks.open():
            assert time.monotonic() < self.end, (tasks.open(), self.n)
            tasks.tick()
            for start in list(tasks._starts.values()):
                self._kill(start.process)
            time.sleep(0.01)
        for start in tasks._starts.values():
            start.process.wait(30)  # it has written its result, and ends

    def _kill(self, process):
        if process.pid != self.seen:
            self.seen, self.due = process.pid, time.monotonic() + self.moments.uniform(0, 4)
        if self.n < N_KILL and process.poll() is None and time.monotonic() >= self.due:
            process.kill()
            process.wait()
            self.n += 1


@pytest.fixture
def marked(monkeypatch):
    """A variable of the environment that processes of this test have, and no others."""
    monkeypatch.setenv("CVZOO_STUDIO_TEST", mark := new_id("jb"))
    return mark


def processes(mark):
    found = []
    for each in pathlib.Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            found += [each.parent.name] if mark.encode() in each.read_bytes() else []
    return found


def unused_segments():
    """Shared memory that no process has mapped."""
    mapped = set()
    for each in pathlib.Path("/proc").glob("[0-9]*/maps"):
        with contextlib.suppress(OSError):
            mapped |= {line.split(maxsplit=5)[-1] for line in each.read_text().splitlines() if "/dev/shm/" in line}
    return {name for name in os.listdir("/dev/shm") if f"/dev/shm/{name}" not in mapped}


@pytest.fixture(autouse=True)
def nothing_is_left(studio, marked, monkeypatch):
    from cvzoo.studio.uploads import upload

    monkeypatch.setattr(upload, "room", lambda folder: 1 << 30)
    before = unused_segments()
    yield
    until = time.monotonic() + 20
    while processes(marked) and time.monotonic() < until:
        time.sleep(0.1)
    assert not processes(marked)
    assert unused_segments() <= before
    assert [str(path) for path in studio.place.home.rglob("*.part")] == []
    assert list(studio.place.tasks.iterdir()) == []
    assert list(studio.place.uploads.iterdir()) == []


def archive_of(seed, mark=""):
    """A tar file of images in a folder per class. mark: their names begin with it"""
    rng = np.random.default_rng(seed)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for i in range(N_IMAGE):
            file = io.BytesIO()
            Image.fromarray(rng.integers(0, 255, (240, 320, 3), np.uint8)).save(file, "PNG")
            info = tarfile.TarInfo(f"data/{'cat' if i % 3 else 'dog'}/{mark}{i:02}.png")
            info.size = file.tell()
            archive.addfile(info, io.BytesIO(file.getvalue()))
    return buffer.getvalue()


def upload(browser, data):
    """The identifier of an upload of an archive."""
    name = base64.b64encode(b"images.tar").decode()
    path = browser.post(
        "/api/v1/uploads", headers={"upload-length": str(len(data)), "upload-metadata": f"filename {name}"}
    ).headers["location"]
    more = {"upload-offset": "0", "content-type": "application/offset+octet-stream"}
    assert browser.patch(path, content=data, headers=more).status_code == 204
    return path.rpartition("/")[2]


def new_dataset(browser, seed):
    body = {"name": f"images {seed}", "source": {"uploads": [upload(browser, archive_of(seed))]}}
    return f"/api/v1/datasets/{browser.post('/api/v1/datasets', json=body).json()['id']}"


def rows_of(browser, dataset):
    rows = browser.get(f"{dataset}/images?limit=200").json()["items"]
    return [(each["name"], each["sha256"], [label["class"] for label in each["labels"]]) for each in rows]


def test_imports_that_are_killed_have_all_images_in_the_end(browser, studio):
    killer, seed = Killer(studio, "import"), 0
    killer.n = N_KILL  # undisturbed
    first = new_dataset(browser, seed)
    killer.until_done()
    expected = rows_of(browser, first)
    assert len(expected) == N_IMAGE
    killer.n = n_failed = 0
    while killer.n < N_KILL:
        seed += 1
        dataset = new_dataset(browser, seed)
        killer.until_done()
        while browser.get(dataset).json()["state"] == "failed":
            assert "3 times without progress" in browser.get(dataset).json()["detail"]
            n_failed += 1
            assert browser.post(f"{dataset}:import-again").status_code == 202
            killer.until_done()
        rows = rows_of(browser, dataset)
        assert [row[::2] for row in rows] == [row[::2] for row in expected]
        for _, sha256, _ in rows:
            assert studio.data.store.thumbnail(sha256).is_file()
    assert killer.n == N_KILL
    assert rows_of(browser, first) == expected


def test_additions_that_are_killed_are_whole_or_nothing(browser, studio):
    killer = Killer(studio, "add")
    killer.n = N_KILL  # undisturbed
    dataset = new_dataset(browser, 0)
    killer.until_done()
    killer.n = n_added = 0
    while killer.n < N_KILL:
        sent = upload(browser, archive_of(100 + n_added, f"{n_added}-"))
        while True:
            assert browser.post(f"{dataset}:add", json={"uploads": [sent]}).status_code == 202
            killer.until_done()
            tree = browser.get(dataset).json()
            if not tree["add_error"]:
                break
            assert "its process" in tree["add_error"]  # was killed too often
            assert tree["n_image"] == N_IMAGE * (1 + n_added)
        n_added += 1
        assert tree["n_image"] == tree["n_object"] == N_IMAGE * (1 + n_added)
        assert tree["head_rev"] == 1 + n_added
    assert killer.n == N_KILL


def test_checks_that_are_killed_lose_no_edit_and_find_the_same_in_the_end(browser, studio, clock):
    killer = Killer(studio, "check")
    killer.n = N_KILL
    dataset = new_dataset(browser, 1)
    killer.until_done()

    def findings():
        assert browser.post(f"{dataset}:check").status_code == 202
        killer.until_done()
        found = browser.get(f"{dataset}/findings").json()["items"]
        return sorted((each["kind"], each["message"], each["state"]) for each in found)

    expected, n_edit = findings(), 0
    killer.n = 0
    rows = rows_of(browser, dataset)
    while killer.n < N_KILL:
        n_edit += 1
        clock.now += 10_000
        rev = studio.data.edits.set_classes(
            dataset.rpartition("/")[2], ["cat", "dog", *(f"new {i}" for i in range(n_edit))], {}, "us_a"
        )
        clock.now += 10_000
        studio.data.tasks.tick()
        killer.until_done()
        tree = browser.get(dataset).json()
        assert (tree["head_rev"], tree["checked_rev"]) == (rev, rev)
        assert browser.get(f"{dataset}/classes").json()["names"][2:] == [f"new {i}" for i in range(n_edit)]
    assert rows_of(browser, dataset) == rows
    studio.data.edits.set_classes(dataset.rpartition("/")[2], ["cat", "dog"], {}, "us_a")
    assert findings() == expected


def test_versions_that_are_killed_are_whole_or_failed(browser, studio, clock):
    killer = Killer(studio, "version")
    killer.n = N_KILL
    dataset = new_dataset(browser, 2)
    killer.until_done()
    assert browser.post(f"{dataset}:split", json={"percent": {"train": 80, "val": 20}}).status_code == 200
    killer.n, n_made = 0, 0
    made = []
    while killer.n < N_KILL:
        n_made += 1
        names = ["cat", "dog", *(f"new {i}" for i in range(n_made))]
        assert browser.put(f"{dataset}/classes", json={"names": names}).status_code == 200
        version = browser.post(f"{dataset}/versions", json={"name": f"version {n_made}"}).json()
        killer.until_done()
        tree = browser.get(f"/api/v1/versions/{version['id']}").json()
        if tree["state"] == "ready":
            made.append(tree)
        else:
            assert "without a result" in tree["detail"], tree
    killer.n = N_KILL
    version = browser.post(f"{dataset}/versions", json={"name": "last"}).json()
    killer.until_done()
    made.append(browser.get(f"/api/v1/versions/{version['id']}").json())
    for tree in made:
        assert tree["state"] == "ready", tree
        images = list(studio.place.version(tree["id"]).rglob("*.png"))
        assert len(images) == N_IMAGE
        assert all(path.stat().st_size > 0 for path in images)


def test_splits_that_are_killed_change_nothing_and_the_next_one_is_that_of_the_seed(browser, studio):
    killer = Killer(studio, "split")
    killer.n = N_KILL
    dataset = new_dataset(browser, 3)
    killer.until_done()
    body = {"percent": {"train": 80, "val": 20}, "seed": 5}
    dry = browser.post(f"{dataset}:split", json=body | {"dry": True}).json()
    ended, n_kill, moments = threading.Event(), [0], random.Random("split")

    def kill():
        while not ended.is_set():
            for pid in children_with(b"cvzoo.studio.worker.split"):
                ended.wait(moments.uniform(0, 1.5))
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    n_kill[0] += 1
            ended.wait(0.005)

    thread = threading.Thread(target=kill)
    thread.start()
    n_refused = 0
    try:
        while n_refused < N_KILL:
            before = browser.get(dataset).json()["head_rev"]
            answer = browser.post(f"{dataset}:split", json=body)
            after = browser.get(dataset).json()["head_rev"]
            if answer.status_code == 200:
                assert after in (before, before + 1)
            else:
                assert answer.status_code == 409, answer.text
                assert "could not be split" in answer.json()["detail"]
                assert after == before
                n_refused += 1
    finally:
        ended.set()
        thread.join()
    answer = browser.post(f"{dataset}:split", json=body).json()
    assert answer["n_image"] == dry["n_image"] == {"train": 48, "val": 12}
    assert json.dumps(answer["n_object"]) == json.dumps(dry["n_object"])
    killer.until_done()


def children_with(word):
    """Children of this process whose command has the word."""
    found = []
    for each in pathlib.Path("/proc/self/task").glob("*/children"):
        for pid in each.read_text().split():
            with contextlib.suppress(OSError):
                found += [int(pid)] if word in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes() else []
    return found
