"""A database that was lost, or is behind its files."""

import json

import pytest
from sqlalchemy import text

from cvzoo.cli.main import main
from cvzoo.errors.exceptions import FileFormatError


@pytest.fixture
def version(browser, studio, work, dataset):
    """A version of a data set after an edit."""
    image = browser.get(f"/api/v1/datasets/{dataset}/images/0").json()
    put = {"edit_id": "edit-0001", "base": 1, "objects": image["labels"][:1]}
    assert browser.put(f"/api/v1/datasets/{dataset}/images/0/labels", json=put).status_code == 200
    answer = browser.post(f"/api/v1/datasets/{dataset}/versions", json={"name": "first"})
    work(studio)
    return browser.get(f"/api/v1/versions/{answer.json()['id']}").json()


def lose_database(studio):
    studio.engine.dispose()
    for path in studio.place.home.glob("studio.db*"):
        path.unlink()


def found_in(studio):
    from cvzoo.studio.reindex import reindex

    return reindex(studio.place, studio.clock)


def opened(studio):
    """The data of the studio's folder, by a new connection."""
    from cvzoo.studio.data.library import DataLibrary
    from cvzoo.studio.database.migrate import ready_database

    return DataLibrary(ready_database(studio.place), studio.place, studio.clock)


def test_a_data_set_is_found_by_its_newest_version(studio, dataset, version):
    lose_database(studio)
    found = found_in(studio)
    assert (found.datasets, found.failed) == (("shapes",), ())
    data = opened(studio)
    known = data.datasets.get(dataset)
    assert (known.name, known.state, known.head_rev) == ("shapes", "ready", 1)
    assert data.datasets.counts(dataset)["n_object"] == 19  # with the edit
    again = data.versions.get(version["id"])
    assert (again.name, again.data, again.content) == (version["name"], version["data"], version["content"])
    data.engine.dispose()


def test_jobs_are_found_by_their_folders_as_stopped_ones(studio):
    from cvzoo.studio.jobs.job import Jobs
    from cvzoo.studio.jobs.spec import TrainSpec

    job = studio.jobs.create("mine", TrainSpec("ssd300", "voc:shapes"), None)
    lose_database(studio)
    assert found_in(studio).n_job == 1
    data = opened(studio)
    known = Jobs(data.engine, studio.place, studio.clock).get(job.id)
    assert (known.name, known.state) == ("mine", "stopped")
    data.engine.dispose()


def test_what_the_database_has_stays(studio, browser, dataset, version):
    before = browser.get(f"/api/v1/datasets/{dataset}").json()
    found = found_in(studio)
    assert (found.n_job, found.datasets) == (0, ())
    assert browser.get(f"/api/v1/datasets/{dataset}").json() == before


def test_a_deleted_data_set_stays_deleted(studio, browser, dataset, version):
    assert browser.delete(f"/api/v1/datasets/{dataset}").status_code == 204
    assert found_in(studio).datasets == ()


def test_a_reindex_that_was_killed_is_completed_by_the_next_one(studio, dataset, version, monkeypatch):
    from cvzoo.studio import reindex

    class Killed(BaseException):
        pass

    def die(*_):
        raise Killed

    lose_database(studio)
    with monkeypatch.context() as patched:
        patched.setattr(reindex, "_add_version", die)
        with pytest.raises(Killed):
            found_in(studio)
    found_in(studio)
    data = opened(studio)
    assert data.versions.get(version["id"]).state == "ready"
    assert len(data.datasets.all()) == 1
    data.engine.dispose()


def test_a_version_whose_folder_was_emptied_is_told(studio, dataset, version):
    import shutil

    folder = studio.place.version(version["id"])
    shutil.rmtree(folder)
    folder.mkdir()
    lose_database(studio)
    found = found_in(studio)
    ((name, why),) = found.failed
    assert name == "shapes"
    assert why


def test_a_damaged_database_is_refused_and_stays(studio):
    studio.engine.dispose()
    studio.place.database.write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)
    with pytest.raises(FileFormatError, match="damaged"):
        found_in(studio)
    assert studio.place.database.read_bytes().endswith(b"\xff" * 4096)


def test_beside_a_server_it_is_refused(studio, capsys):
    from cvzoo.studio.serve import one_server

    with one_server(studio.place):
        assert main(["studio", "--home", str(studio.place.home), "reindex"]) == 2
    assert "is running" in capsys.readouterr().err


def test_the_command_says_what_was_added(studio, version, capsys):
    lose_database(studio)
    assert main(["studio", "--home", str(studio.place.home), "reindex"]) == 0
    out = capsys.readouterr().out
    assert "0 jobs and 1 data set added" in out
    assert "later edits, history and waived findings are in backups only" in out


def test_a_malformed_note_is_left_out(studio, version):
    studio.place.version_note(version["id"]).write_text('{"dataset": 3}')
    lose_database(studio)
    assert found_in(studio).datasets == ()
    data = opened(studio)
    with data.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM dataset")).scalar() == 0
    data.engine.dispose()


def test_a_lost_database_does_not_bring_deleted_data_sets_back_but_restored_ones(studio, browser, dataset, version):
    assert browser.delete(f"/api/v1/datasets/{dataset}").status_code == 204
    lose_database(studio)
    found = found_in(studio)
    assert found.datasets == ()
    assert found.n_audit > 2
    lose_database(studio)
    with open(studio.place.audit, "a") as file:
        at = studio.clock.now - 3_600_000  # by a clock that was set back
        row = {"at": at, "user": None, "address": "", "action": "trash.restore", "object": dataset}
        file.write(json.dumps(row | {"detail": {}}) + "\n")
    assert found_in(studio).datasets == ("shapes",)
