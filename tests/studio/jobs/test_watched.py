"""The runs below watched folders."""

import shutil

from cvzoo.studio.jobs import watched
from cvzoo.studio.jobs.watched import WatchedRuns
from cvzoo.training.run.run_status import folder_lock


def names(runs):
    return {record.name for record in runs.records()}


class Time:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 10
        return self.now


def test_runs_appear_and_disappear_with_their_folders(tmp_path, write_run):
    runs = WatchedRuns([tmp_path], Time())
    assert names(runs) == set()
    write_run(tmp_path / "a" / "b")
    assert names(runs) == {"a/b"}
    (record,) = runs.records()
    shutil.rmtree(tmp_path / "a")
    assert names(runs) == set()
    assert runs.record(record.id) is None


def test_identifiers_outlive_the_server(tmp_path, write_run):
    write_run(tmp_path / "run")
    first, second = WatchedRuns([tmp_path]).records(), WatchedRuns([tmp_path]).records()
    assert [each.id for each in first] == [each.id for each in second]


def test_a_watched_folder_may_be_a_run(tmp_path, write_run):
    write_run(tmp_path / "run")
    assert names(WatchedRuns([tmp_path / "run"])) == {"run"}


def test_links_and_hidden_folders_are_not_searched(tmp_path, write_run):
    write_run(tmp_path / "elsewhere" / "run")
    write_run(tmp_path / "watched" / ".trash" / "run")
    (tmp_path / "watched" / "link").symlink_to(tmp_path / "elsewhere")
    assert names(WatchedRuns([tmp_path / "watched"])) == set()


def test_running_ones_are_first_and_the_lock_is_looked_at_each_time(tmp_path, write_run):
    write_run(tmp_path / "done")
    run = write_run(tmp_path / "run", state="running")
    runs = WatchedRuns([tmp_path])
    with folder_lock(run):
        assert [record.state for record in runs.records()] == ["running", "finished"]
    assert {record.state for record in runs.records()} == {"killed", "finished"}
    with folder_lock(run):  # it is resumed
        assert [record.state for record in runs.records()] == ["running", "finished"]


def test_nothing_is_written(tmp_path, write_run):
    run = write_run(tmp_path / "run", state="running")
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*")}
    names(WatchedRuns([tmp_path]))
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*")} == before


def test_a_killed_run_is_not_read_again_while_its_files_and_lock_stay(tmp_path, write_run, monkeypatch):
    write_run(tmp_path / "a", state="running")
    runs = WatchedRuns([tmp_path], Time())
    (record,) = runs.records()
    assert record.state == "killed"
    monkeypatch.setattr(watched, "read_record", None)
    assert runs.records() == [record]


def test_a_run_that_is_opened_is_as_its_files_are_now_and_so_is_a_list_after_it(tmp_path, write_run):
    run = write_run(tmp_path / "run")
    runs = WatchedRuns([tmp_path], lambda: 0.0)  # no time goes by
    (listed,) = runs.records()
    config = run / "config.json"
    config.write_text(config.read_text().replace("voc:shapes", "voc:others"))
    assert listed.data == "voc:shapes"
    assert runs.record(listed.id).data == "voc:others"
    assert [each.data for each in runs.records()] == ["voc:others"]
