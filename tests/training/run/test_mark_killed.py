"""A run whose process is gone, and one whose process lives."""

import errno
import fcntl
import os
import signal
import threading

import pytest

from cvzoo.errors import FileFormatError, ValueRangeError
from cvzoo.training.run.mark_killed import mark_if_killed
from cvzoo.training.run.run_status import FolderLock, RunStatus, read_status, write_status

RUNNING = RunStatus(state="running", epoch=1.5, iteration=15, resume_with="train --resume")


@pytest.fixture
def living(tmp_path):
    """The number of a process that trains in tmp_path, as far as its folder can tell."""
    heard, tell = os.pipe()
    child = os.fork()
    if child == 0:
        lock = FolderLock()
        lock.take(tmp_path)
        write_status(tmp_path, RUNNING)
        os.write(tell, b".")
        while True:
            signal.pause()
    os.read(heard, 1)
    os.close(heard)
    os.close(tell)
    yield child
    if read_status(tmp_path).state == "running":
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_run_is_running_as_long_as_its_process_lives(tmp_path, living):
    with pytest.raises(ValueRangeError, match="another process is training in this folder"):
        mark_if_killed(tmp_path)
    seen = read_status(tmp_path).seen
    os.kill(living, signal.SIGKILL)
    os.waitpid(living, 0)
    found = mark_if_killed(tmp_path)
    assert (found.state, found.seen, found.iteration) == ("killed", seen, 15)
    assert read_status(tmp_path) == found
    page = (tmp_path / "report.html").read_text()
    assert f"killed, {seen}" in page
    assert "The process was killed, or the machine stopped" in page
    assert mark_if_killed(tmp_path) == found


def test_a_folder_that_cannot_be_written_to_is_judged_all_the_same(tmp_path, monkeypatch):
    write_status(tmp_path, RUNNING)
    before = (tmp_path / "status.json").read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    assert mark_if_killed(tmp_path).state == "killed"
    assert (tmp_path / "status.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["status.json"]


@pytest.mark.parametrize("state", ["finished", "stopped by Ctrl-C", "failed: ValueError: x", "killed"])
def test_a_run_that_said_how_it_ended_is_left_alone(tmp_path, state):
    write_status(tmp_path, RunStatus(state=state, epoch=1, iteration=2))
    assert mark_if_killed(tmp_path).state == state
    assert not (tmp_path / "report.html").exists()


def test_where_there_is_no_run_nothing_is_said(tmp_path):
    assert mark_if_killed(tmp_path) is None
    assert mark_if_killed(tmp_path / "nowhere") is None


@pytest.mark.parametrize("text", ["{", "[]", '{"state": 1, "what": 2}'])
def test_a_damaged_status_is_named(tmp_path, text):
    (tmp_path / "status.json").write_text(text)
    with pytest.raises(FileFormatError, match=r"status\.json is damaged"):
        mark_if_killed(tmp_path)


def test_where_there_are_no_locks_nobody_is_declared_dead(tmp_path, monkeypatch):
    def unsupported(descriptor, how):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("cvzoo.training.run.run_status.fcntl.flock", unsupported)
    write_status(tmp_path, RUNNING)
    lock = FolderLock()
    assert lock.take(tmp_path) is False
    assert mark_if_killed(tmp_path).state == "running"
    lock.release()


def test_a_look_at_a_run_does_not_keep_it_from_starting(tmp_path):
    """Who looks whether it is alive has a shared lock for a moment, and may be paused in it."""
    looked = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(looked, fcntl.LOCK_SH)
    threading.Timer(0.1, os.close, [looked]).start()
    lock = FolderLock()
    assert lock.take(tmp_path)
    lock.release()
