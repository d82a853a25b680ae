"""A real disk that becomes full or read-only, and a locked database: what was accepted stays, the rest is refused."""

import contextlib
import dataclasses
import os
import pathlib
import shutil
import subprocess
import time

import pytest
from hostile_files import image, tarred, zipped

from cvzoo.studio.access.tickets import new_ticket
from cvzoo.studio.jobs import conductor as conductor_module
from cvzoo.studio.jobs.conductor import Conductor
from cvzoo.studio.jobs.spec import TrainSpec
from cvzoo.studio.uploads import upload as upload_module

pytestmark = pytest.mark.slow
SPEC = TrainSpec("ssd300", "voc:shapes")
BYTES = {"content-type": "application/offset+octet-stream"}


@pytest.fixture
def disk(tmp_path):
    """A file system of 8 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no file system can be mounted: {made.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture
def studio(disk, clock, watched):
    from cvzoo.studio.database.migrate import ready_database
    from cvzoo.studio.place import Place
    from cvzoo.studio.settings import Settings
    from cvzoo.studio.state import make_studio

    place = Place(disk / "home")
    place.make()
    engine = ready_database(place)
    yield make_studio(Settings(home=place.home, port=8700, watch=(watched,)), place, engine, clock)
    engine.dispose()


@pytest.fixture(autouse=True)
def any_room(monkeypatch):
    """Nothing is refused ahead of time."""
    monkeypatch.setattr(upload_module, "room", lambda folder: 1 << 30)
    monkeypatch.setattr(conductor_module, "MIN_FREE", 0)
    monkeypatch.setattr(conductor_module, "_LAST_FREE", 0)


def fill(disk):
    """Writes until nothing more can be written."""
    with open(disk / "filler", "ab", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"\0" * size)


def test_what_was_accepted_before_stays_and_work_goes_on_after(studio, browser, disk):
    data = os.urandom(1 << 20)
    headers = {"upload-length": str(len(data))}
    path = browser.post("/api/v1/uploads", headers=headers).headers["location"]
    assert browser.patch(path, content=data[:1000], headers=BYTES | {"upload-offset": "0"}).status_code == 204
    jobs = [studio.jobs.create(f"job {i}", SPEC, None) for i in range(3)]
    browser.post("/api/v1/queue:reorder", json={"job": jobs[2].id, "before": jobs[0].id})
    order = [job.id for job in studio.jobs.queued()]
    fill(disk)

    part = browser.patch(path, content=data[1000:], headers=BYTES | {"upload-offset": "1000"})
    assert part.status_code in (503, 507), part.text
    moved = browser.post("/api/v1/queue:reorder", json={"job": jobs[0].id, "before": jobs[2].id})
    assert moved.status_code == 503
    assert moved.headers["retry-after"]
    made = browser.post("/api/v1/uploads", headers=headers)
    assert made.status_code in (503, 507), made.text
    with pytest.raises(Exception, match=r"No space left|disk is full"):
        Conductor(studio.jobs, studio.place).tick()
    assert [job.id for job in studio.jobs.queued()] == order
    for page in ("/", "/jobs", f"/jobs/{jobs[0].id}", "/data"):
        assert browser.get(page).status_code == 200, page
    assert browser.head(path).headers["upload-offset"] == "1000"

    (disk / "filler").unlink()
    assert browser.patch(path, content=data[1000:], headers=BYTES | {"upload-offset": "1000"}).status_code == 204
    assert pathlib.Path(studio.place.upload(path.rpartition("/")[2])).read_bytes() == data
    answer = browser.post("/api/v1/queue:reorder", json={"job": jobs[0].id, "before": jobs[2].id})
    assert answer.status_code == 200
    conductor = Conductor(studio.jobs, studio.place)
    conductor.tick()
    assert studio.jobs.get(jobs[0].id).state == "starting"
    studio.jobs.apply(studio.jobs.get(jobs[0].id), "kill")


def test_a_disk_that_was_made_read_only_is_told_and_nothing_is_lost(studio, browser, disk):
    job = studio.jobs.create("job", SPEC, None)
    new_ticket(studio.engine, studio.clock)
    studio.engine.dispose()
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    try:
        for method, path, body in (
            ("POST", f"/api/v1/jobs/{job.id}:stop", {}),
            ("POST", "/api/v1/queue:reorder", {"job": job.id}),
            ("POST", "/api/v1/datasets", {"name": "a", "source": {"sample": 4}}),
        ):
            answer = browser.request(method, path, json=body)
            assert answer.status_code == 503, (path, answer.text)
            assert "read-only" in answer.json()["detail"] + answer.json()["try"]
    finally:
        studio.engine.dispose()
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
    assert studio.jobs.get(job.id).state == "queued"
    assert browser.post(f"/api/v1/jobs/{job.id}:stop").status_code == 202


def test_a_database_that_another_program_locks_is_told_and_the_next_request_works(studio, browser, monkeypatch):
    import sqlite3

    from cvzoo.studio.database import engine as engine_module

    monkeypatch.setattr(engine_module, "_BUSY_MS", 50)
    studio.engine.dispose()
    job = studio.jobs.create("job", SPEC, None)
    other = sqlite3.connect(studio.place.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    answer = browser.post(f"/api/v1/jobs/{job.id}:stop")
    assert answer.status_code == 503
    assert "locked" in answer.json()["detail"]
    assert browser.get("/jobs").status_code == 200  # reading is possible
    other.execute("ROLLBACK")
    other.close()
    assert browser.post(f"/api/v1/jobs/{job.id}:stop").status_code == 202


def worked(studio):
    """Brings all tasks to their end, in processes of their own."""
    end = time.monotonic() + 60
    while studio.data.tasks.open() or studio.data.tasks.n_child:
        assert time.monotonic() < end
        studio.data.tasks.tick()
        time.sleep(0.05)


@pytest.mark.parametrize("ending", ["zip", "tar"])
def test_an_archive_that_fills_the_disk_is_told_leaves_nothing_and_is_imported_again(studio, browser, disk, ending):
    files = [(f"{i}.png", image(size=(180, 180), seed=i)) for i in range(8)]  # of 100 kB each
    data = zipped(files) if ending == "zip" else tarred([(*each, {}) for each in files])
    upload = studio.data.uploads.create(f"mine.{ending}", len(data), None)
    studio.place.upload(upload.id).write_bytes(data)
    studio.data.uploads._accept(dataclasses.replace(upload, offset=len(data)))
    source = {"uploads": [upload.id]}
    dataset = browser.post("/api/v1/datasets", json={"name": "mine", "source": source}).json()["id"]
    with open(disk / "filler", "wb") as file:
        file.write(bytes(shutil.disk_usage(disk).free - (400 << 10)))
    worked(studio)
    found = browser.get(f"/api/v1/datasets/{dataset}").json()
    assert (found["state"], "disk is full" in found["detail"]) == ("failed", True), found["detail"]
    assert list(studio.place.tasks.iterdir()) == []
    assert [path for path in studio.place.images.rglob("*") if ".part" in path.name] == []
    assert studio.place.upload(upload.id).read_bytes() == data

    (disk / "filler").unlink()
    assert browser.post(f"/api/v1/datasets/{dataset}:import-again").status_code == 202
    worked(studio)
    found = browser.get(f"/api/v1/datasets/{dataset}").json()
    assert (found["state"], found["n_image"]) == ("ready", 8), found["detail"]
