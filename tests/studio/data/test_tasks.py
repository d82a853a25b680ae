"""Processes that work on data sets and end without a result: what is repeated, and what is kept."""

import base64
import io
import json
import subprocess
import types

import numpy as np
import pytest
from PIL import Image

from cvzoo.studio.access.audit import entries
from cvzoo.studio.data import tasks as tasks_module
from cvzoo.studio.worker import data_task


class Killed:
    """A process that ends without a result. plan: of each, the images that it came to, None: it never began"""

    plan: list[int | None]
    returncode = -9

    def __init__(self, argv, **_):
        folder = tasks_module.pathlib.Path(argv[-1])
        self.reached = self.plan.pop(0) if self.plan else None
        if self.reached is None:
            return
        if self.reached == "done":
            data_task.main(str(folder))
            return
        (folder / data_task.STARTED).touch()
        progress = data_task.Progress(folder)
        progress("unpacking")
        progress._at = 0
        progress(data_task.KEPT, self.reached, 100)
        progress._at = 0
        progress("checking")

    def poll(self):
        return self.returncode


@pytest.fixture
def processes(monkeypatch, studio):
    """What the next processes do."""
    monkeypatch.setattr(Killed, "plan", plan := [], raising=False)
    monkeypatch.setattr(tasks_module, "subprocess", types.SimpleNamespace(Popen=Killed, DEVNULL=subprocess.DEVNULL))
    studio.data.tasks._seconds = iter(range(0, 10**6, 100)).__next__
    return plan


@pytest.fixture
def upload(browser):
    """An uploaded image."""
    buffer = io.BytesIO()
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(buffer, "PNG")
    headers = {
        "upload-length": str(buffer.tell()),
        "upload-metadata": f"filename {base64.b64encode(b'a.png').decode()}",
    }
    path = browser.post("/api/v1/uploads", headers=headers).headers["location"]
    more = {"upload-offset": "0", "content-type": "application/offset+octet-stream"}
    assert browser.patch(path, content=buffer.getvalue(), headers=more).status_code == 204
    return path.rpartition("/")[2]


@pytest.fixture
def imported(browser, upload):
    """The identifier of a data set that is to be imported from the upload."""
    return browser.post("/api/v1/datasets", json={"name": "a", "source": {"uploads": [upload]}}).json()["id"]


def tick(studio, processes):
    """Until the plan is used up and the last one was judged."""
    while processes:
        studio.data.tasks.tick()
    studio.data.tasks.tick()


def state(browser, dataset):
    tree = browser.get(f"/api/v1/datasets/{dataset}").json()
    return tree["state"], tree["detail"]


def test_an_import_that_progresses_between_its_deaths_is_started_again_each_time(
    browser, studio, processes, imported, work
):
    processes += [10, 10, 20, 20, 30, 31, 32, "done"]
    tick(studio, processes)
    assert state(browser, imported) == ("ready", "")


def test_after_three_deaths_without_progress_the_upload_is_kept_and_imported_again(
    browser, studio, processes, imported, upload, work
):
    processes += [10, 10, 10]
    tick(studio, processes)
    assert state(browser, imported) == ("failed", "its process ended without a result, 3 times without progress")
    assert studio.place.upload(upload).is_file()
    assert "Import again" in browser.get(f"/data/{imported}").text
    assert list(studio.place.tasks.iterdir()) == []
    assert browser.post(f"/api/v1/datasets/{imported}:import-again").json()["state"] == "importing"
    assert browser.post(f"/api/v1/datasets/{imported}:import-again").status_code == 409
    processes.append("done")
    tick(studio, processes)
    assert state(browser, imported) == ("ready", "")
    assert not studio.place.upload(upload).exists()
    assert [each.object for each in entries(studio.engine, before=None, action="dataset.import", limit=9)] == [imported]


def test_a_death_that_no_server_saw_is_counted_once(browser, studio, processes, imported, upload):
    from cvzoo.studio.data.tasks import Tasks

    processes += [10] * 3
    for n_try in (0, 1, 2):
        Tasks(
            studio.engine, studio.place, studio.clock, studio.data.tasks._seconds
        ).tick()  # of a server that dies then
        (task,) = studio.data.tasks.open()
        assert task.n_try == n_try
    studio.data.tasks.tick()
    assert state(browser, imported)[0] == "failed"


def test_a_process_that_cannot_be_started_is_no_attempt_and_is_tried_ever_later(
    browser, studio, processes, imported, upload
):
    processes += [None] * 4 + [10]
    tick(studio, processes)
    (task,) = studio.data.tasks.open()
    assert (task.n_try, task.state) == (1, "running")
    processes += [None] * 4  # with the one that was started by the last look
    tick(studio, processes)
    assert state(browser, imported) == ("failed", "its process could not be started: exit status -9")
    assert studio.place.upload(upload).is_file()


def test_the_next_start_waits_until_its_time_has_come(studio, processes, imported):
    processes += [None] * 3
    now = [0.0]
    studio.data.tasks._seconds = lambda: now[0]
    studio.data.tasks.tick()
    studio.data.tasks.tick()
    assert len(processes) == 2
    now[0] = 0.7
    studio.data.tasks.tick()
    assert len(processes) == 1
    now[0] = 1.3
    studio.data.tasks.tick()
    assert len(processes) == 1  # twice as long


@pytest.mark.parametrize(("error", "is_kept"), [(OSError(28, "No space left on device"), True), (None, False)])
def test_an_upload_is_deleted_if_its_content_is_why_the_import_failed_and_only_then(
    browser, studio, imported, upload, work, monkeypatch, error, is_kept
):
    from cvzoo.errors.exceptions import DatasetError

    def fails(*_):
        raise error or DatasetError("no image is in it")

    monkeypatch.setattr(data_task, "_WORK", {"import": fails})
    work(studio)
    assert state(browser, imported)[0] == "failed"
    assert studio.place.upload(upload).exists() is is_kept
    monkeypatch.undo()
    assert browser.post(f"/data/{imported}/import-again").status_code == (303 if is_kept else 409)


def test_a_data_set_that_is_deleted_takes_its_upload_and_its_work_along(browser, studio, processes, imported, upload):
    processes.append(10)
    studio.data.tasks.tick()
    Killed.kill = Killed.wait = lambda self: None
    assert browser.delete(f"/api/v1/datasets/{imported}").status_code == 204
    assert list(studio.place.tasks.iterdir()) == []
    assert studio.place.upload(upload).exists()  # it may be restored, and imported again
    studio.trash.purge(imported)
    assert not studio.place.upload(upload).exists()
    assert browser.get("/api/v1/datasets").json()["items"] == []


def test_a_server_that_starts_removes_uploads_whose_import_has_ended(
    browser, studio, imported, upload, work, monkeypatch
):
    monkeypatch.setattr(type(studio.data.tasks), "_drop_uploads", lambda *_: None)  # as if it was killed before
    work(studio)
    assert state(browser, imported) == ("ready", "")
    assert studio.place.upload(upload).exists()
    studio.data.clean()
    assert not studio.place.upload(upload).exists()


def test_others_do_not_repeat_an_import(browser, stranger, studio, processes, imported, clock):
    from cvzoo.studio.access.tokens import new_token
    from cvzoo.studio.access.users import add_user

    processes += [10, 10, 10]
    tick(studio, processes)
    user = add_user(studio.engine, "ada", "annotator", clock).id
    bearer = {"authorization": f"Bearer {new_token(studio.engine, 'ada', 'write', 1, clock, user)}"}
    assert stranger.post(f"/api/v1/datasets/{imported}:import-again", headers=bearer).status_code == 403


def test_progress_says_how_far_the_kept_work_is(tmp_path):
    progress = data_task.Progress(tmp_path)
    for phase, done in (("unpacking", 7), (data_task.KEPT, 3), ("checking", 0)):
        progress._at = 0
        progress(phase, done, 9)
    tree = json.loads((tmp_path / "progress.json").read_text())
    assert tree == {"phase": "checking", "done": 0, "total": 9, "reached": 3}
