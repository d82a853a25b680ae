"""Data sets in a studio; the work of other processes is done in this one, as starting them takes a second each."""

import subprocess
import types

import pytest


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Tasks, imaging and splits without processes."""
    from cvzoo.studio.data import archives, fixes, split, tasks
    from cvzoo.studio.photos.imaging import Imaging
    from cvzoo.studio.photos.imaging_worker import answer
    from cvzoo.studio.uploads import upload
    from cvzoo.studio.worker import data_task
    from cvzoo.studio.worker.fix_data import fixed
    from cvzoo.studio.worker.split import parts

    class Done:
        def __init__(self, argv, **_):
            data_task.main(argv[-1])

        def poll(self):
            return 0

    monkeypatch.setattr(tasks, "subprocess", types.SimpleNamespace(Popen=Done, DEVNULL=subprocess.DEVNULL))
    monkeypatch.setattr(Imaging, "_ask", lambda self, question: answer(question))
    monkeypatch.setattr(split, "_ask", parts)
    monkeypatch.setattr(fixes, "_ask", fixed)
    for each in (upload, archives):
        monkeypatch.setattr(each, "room", lambda folder: 1 << 30)  # whatever the disk of this machine has


def work(studio):
    """Does all open tasks."""
    for _ in range(20):
        if not studio.data.tasks.open():
            return
        studio.data.tasks.tick()
    raise AssertionError("the tasks do not end")


@pytest.fixture(name="work")
def work_fixture():
    return work


@pytest.fixture
def dataset(browser, studio, tmp_path, write_coco):
    """The identifier of an imported data set of ten images with two boxes each."""
    write_coco(tmp_path / "shapes")
    answer = browser.post("/api/v1/datasets", json={"name": "shapes", "source": {"spec": f"coco:{tmp_path}/shapes"}})
    assert answer.status_code == 202
    work(studio)
    return answer.json()["id"]
