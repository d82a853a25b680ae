"""What nothing refers to is removed, and nothing that somebody is about to refer to."""

import os
import shutil
import threading

import pytest

from cvzoo.cli.main import main
from cvzoo.errors.exceptions import ConfigError
from cvzoo.studio.jobs.spec import TrainSpec
from cvzoo.studio.trash import KEPT_MS

HOUR_MS = 3600 * 1000


@pytest.fixture
def version(browser, studio, work, dataset):
    """The identifier of a version of the data set."""
    answer = browser.post(f"/api/v1/datasets/{dataset}/versions", json={"name": "first"})
    work(studio)
    return answer.json()["id"]


def collected(studio, **options):
    """What is removed, by kind."""
    from cvzoo.studio.collect import collect

    found = collect(studio.place, studio.engine, studio.clock, studio.trash, **options)
    return {each.what: each.n for each in found.items}


def forget(browser, dataset):
    """Deletes the data set for good."""
    assert browser.delete(f"/api/v1/datasets/{dataset}").status_code == 204
    assert browser.delete(f"/api/v1/trash/{dataset}").status_code == 204


def images(studio):
    return {path.name for path in studio.place.images.glob("??/*") if not path.suffix}


def everything(studio):
    return {path.relative_to(studio.place.home) for path in studio.place.home.rglob("*")}


def age(studio):
    """All files are two hours old."""
    for path in studio.place.home.rglob("*"):
        status = path.lstat()
        os.utime(path, ns=(status.st_atime_ns - 7200 * 10**9, status.st_mtime_ns - 7200 * 10**9))


def new_data(studio, browser, path, name="again"):
    answer = browser.post("/api/v1/datasets", json={"name": name, "source": {"spec": f"coco:{path}"}})
    assert answer.status_code == 202
    return answer.json()["id"]


def test_nothing_is_removed_of_a_data_set_its_history_and_its_versions(studio, browser, dataset, version):
    browser.patch(f"/api/v1/datasets/{dataset}/images", json={"ordinals": [0, 1, 2], "delete": True})
    before = everything(studio)
    assert collected(studio) == {}
    assert everything(studio) == before
    browser.delete(f"/api/v1/datasets/{dataset}")  # which can be restored
    assert collected(studio) == {}
    assert everything(studio) == before


def test_the_images_of_a_data_set_that_was_deleted_for_good_are_removed(studio, browser, dataset, version, capsys):
    forget(browser, dataset)
    age(studio)
    home = ["studio", "--home", str(studio.place.home)]
    before = everything(studio)
    assert main([*home, "collect", "--dry"]) == 0
    would = capsys.readouterr().out
    assert "versions: 1, " in would
    assert "images: 10, " in would
    assert everything(studio) == before
    assert main([*home, "collect"]) == 0
    assert capsys.readouterr().out == would.replace("would be freed", "freed")
    assert not [path for path in studio.place.images.rglob("*") if path.is_file()]
    assert list(studio.place.versions.iterdir()) == []
    assert main([*home, "collect"]) == 0
    assert capsys.readouterr().out == "0.0 MB freed\n"


def test_a_version_that_a_job_names_stays_with_its_images(studio, browser, dataset, version):
    job = studio.jobs.create("mine", TrainSpec("ssd300", f"coco:{studio.place.version(version)}"), None)
    forget(browser, dataset)
    assert collected(studio) == {}
    assert len(images(studio)) == 10
    stopped = studio.jobs.apply(job, "stop")
    studio.jobs.purge(studio.jobs.trash(stopped))
    assert collected(studio) == {"versions": 1, "images": 10}


def test_the_trash_is_emptied_after_thirty_days(studio, browser, dataset, clock):
    browser.delete(f"/api/v1/datasets/{dataset}")
    clock.now += KEPT_MS
    assert collected(studio, is_dry=True) == {"things of the trash": 1, "images": 10}
    assert len(studio.trash.items()) == 1
    assert collected(studio) == {"things of the trash": 1, "images": 10}
    assert (studio.trash.items(), images(studio)) == ([], set())


def test_images_stay_while_data_are_imported(studio, browser, dataset, work, tmp_path):
    forget(browser, dataset)
    new_data(studio, browser, tmp_path / "shapes")  # of the same images, not done yet
    assert collected(studio) == {}
    assert len(images(studio)) == 10
    work(studio)
    assert collected(studio) == {}
    assert len(images(studio)) == 10


def test_an_import_that_begins_while_images_are_collected_has_all_of_its_images(
    studio, browser, dataset, work, tmp_path, monkeypatch
):

    from cvzoo.studio.collect import _Sweep

    forget(browser, dataset)
    chosen, alone, is_chosen, started = _Sweep._used, _Sweep._alone, [], []

    def choose(self):
        is_chosen.append(True)
        return chosen(self)

    def import_then_remove(self):
        if is_chosen and not started:  # which images to remove is known, and none is removed yet
            started.append(new_data(studio, browser, tmp_path / "shapes"))
            work(studio)
        return alone(self)

    monkeypatch.setattr(_Sweep, "_used", choose)
    monkeypatch.setattr(_Sweep, "_alone", import_then_remove)
    assert collected(studio) == {}
    assert len(images(studio)) == 10
    assert browser.get(f"/api/v1/datasets/{started[0]}").json()["n_image"] == 10


def test_imports_and_collections_at_the_same_time_lose_no_image(studio, browser, dataset, work, tmp_path, write_coco):
    """Data sets of the same images are imported and deleted for good again and again, while all is collected."""
    forget(browser, dataset)
    ended, errors = threading.Event(), []

    def collect_again():
        while not ended.is_set():
            try:
                collected(studio)
            except Exception as error:
                errors.append(error)

    thread = threading.Thread(target=collect_again)
    thread.start()
    try:
        for i in range(8):
            found = new_data(studio, browser, tmp_path / "shapes", f"again {i}")
            work(studio)
            tree = browser.get(f"/api/v1/datasets/{found}/images").json()
            missing = {each["sha256"] for each in tree["items"]} - images(studio)
            assert (len(tree["items"]), missing) == (10, set())
            if i < 7:
                forget(browser, found)
    finally:
        ended.set()
        thread.join()
    assert errors == []


def test_a_task_may_remove_its_folder_while_it_is_looked_at(studio, monkeypatch):
    """As an import that ends does."""
    ended, other = (studio.place.tasks / f"tk_{letter * 16}" for letter in "ab")
    for folder in (ended, other):
        (folder / "inner").mkdir(parents=True)
        (folder / "inner" / "file").write_bytes(b"left")
    age(studio)

    scan = os.scandir

    def remove_and_scan(path):
        if str(path) == str(ended / "inner"):
            shutil.rmtree(ended)
        return scan(path)

    with monkeypatch.context() as changed:
        changed.setattr(os, "scandir", remove_and_scan)
        assert collected(studio)["folders of ended work"] == 1
    assert not list(studio.place.tasks.glob("tk_*"))


def test_an_upload_that_is_imported_as_it_expires_stays(studio, browser, clock):
    upload = studio.data.uploads.create("images.tar", 0, "me")
    late = studio.data.uploads.create("late.tar", 0, "me")
    clock.now += 7 * 24 * HOUR_MS
    source = {"uploads": [upload.id]}
    from cvzoo.studio.access.tickets import new_ticket

    assert browser.post("/open", data={"ticket": new_ticket(studio.engine, clock)}).status_code == 303
    assert browser.post("/api/v1/datasets", json={"name": "new", "source": source}).status_code == 202
    assert collected(studio) == {"expired uploads": 1}
    assert studio.place.upload(upload.id).is_file()
    assert not studio.place.upload(late.id).exists()
    assert browser.post("/api/v1/datasets", json={"name": "no", "source": {"uploads": [late.id]}}).status_code == 404


def test_what_killed_processes_left_is_removed_after_its_grace_time(studio, clock):
    place, name = studio.place, "a" * 16
    folders = [place.tasks / f"tk_{name}", place.models / f"md_{name}", place.runs / f".jb_{name}.deleted"]
    folders += [place.versions / f".ve_{name}.ff.part", place.backups / ".backup-x", place.tasks / ".tk_b.collected"]
    (place.images / "aa").mkdir()
    files = [place.images / ".0.part", place.images / "aa" / ".0.part", place.images / "aa" / f"{'a' * 64}.jpg"]
    files += [place.locks / f"jb_{name}-1", place.uploads / f"up_{name}", place.versions / ".ve_a.files.jsonl.ff.part"]
    for folder in folders:
        (folder / "inner").mkdir(parents=True)
    for path in files:
        path.write_bytes(b"left")
    (place.runs / f"jb_{name}").mkdir()  # a job that a restart finds again
    for path in (*folders, *files):
        os.utime(path, ns=((clock.now - HOUR_MS + 1) * 10**6,) * 2)
    assert collected(studio) == {"thumbnails": 1}  # of no image
    clock.now += 24 * HOUR_MS
    found = collected(studio)
    assert found.pop("unfinished files") == 6
    assert found == {"folders of ended work": 1, "files of models": 1, "versions": 2, "expired uploads": 1}
    assert not any(path.exists() for path in (*folders, *files))
    assert (place.runs / f"jb_{name}").is_dir()
    assert not [path for path in place.home.rglob("*") if "collected" in path.name]


def test_a_database_that_lost_its_data_sets_removes_nothing(studio, browser, dataset, version):
    studio.engine.dispose()
    for path in studio.place.home.glob("studio.db*"):
        path.unlink()
    from cvzoo.studio.collect import collect_in
    from cvzoo.studio.database.migrate import ready_database

    ready_database(studio.place).dispose()
    before = everything(studio)
    for _ in range(2):
        with pytest.raises(ConfigError, match="does not know all data sets"):
            collect_in(studio.place, studio.clock)
        studio.place.version_note(version).unlink(missing_ok=True)
        before.discard(studio.place.version_note(version).relative_to(studio.place.home))
        assert everything(studio) >= {path for path in before if path.suffix not in (".db", ".db-wal", ".db-shm")}


def test_administrators_collect_by_rest_and_it_is_audited(studio, browser, dataset):
    forget(browser, dataset)
    answer = browser.post("/api/v1/storage:collect", json={"dry": True}).json()
    assert (answer["items"][0]["what"], answer["items"][0]["n"], answer["kept"]) == ("images", 10, "")
    assert len(images(studio)) == 10
    assert browser.post("/api/v1/storage:collect", json={}).json() == answer
    assert images(studio) == set()
    entries = browser.get("/api/v1/audit?action=storage").json()["items"]
    assert [each["action"] for each in entries] == ["storage.collect"]
