"""What is known of a run by its files."""

import pytest

from cvzoo.studio.jobs.run_record import read_record, seconds_left
from cvzoo.studio.jobs.run_state import is_locked, run_state
from cvzoo.training.run.run_status import folder_lock


def test_a_run_with_a_process_is_running_and_one_without_was_killed(tmp_path, write_run):
    run = write_run(tmp_path / "run", state="running")
    with folder_lock(run):
        assert is_locked(run)
        assert run_state(run).state == "running"
    assert not is_locked(run)
    state = run_state(run)
    assert state.state == "killed"
    assert "2026-11-22 08:10:03 UTC" in state.detail


def test_looking_at_a_run_does_not_stop_it_from_being_trained(tmp_path, write_run):
    run = write_run(tmp_path / "run", state="running")
    run_state(run)
    with folder_lock(run) as has_lock:
        assert has_lock


@pytest.mark.parametrize(
    ("said", "state", "detail"),
    [
        ("finished", "finished", ""),
        ("stopped by Ctrl-C", "stopped", "Stopped by Ctrl-C."),
        ("failed: DatasetError: no image", "failed", "DatasetError: no image"),
        ("killed", "killed", "Its process ended without a word after 2026-11-22 08:10:03 UTC."),
        ("nonsense", "unknown", "status.json is missing or malformed."),
    ],
)
def test_states_of_runs_that_ended(tmp_path, write_run, said, state, detail):
    found = run_state(write_run(tmp_path / "run", state=said))
    assert (found.state, found.detail) == (state, detail)


def test_why_a_run_ended_early_is_told(tmp_path, write_run):
    assert run_state(write_run(tmp_path / "run", reason="early stopping")).detail == "Early stopping"


def test_progress_is_counted_in_iterations(tmp_path, write_run):
    run = write_run(tmp_path / "run", state="stopped by SIGTERM")
    record = read_record(run, "wr_x", "run")
    assert (record.iteration, record.n_iteration, record.progress) == (8, 10, 0.8)
    assert (record.best, record.best_epoch, record.elapsed) == (0.6, 2, 30.0)


def test_the_remaining_time_follows_the_pace():
    rows = [{"iteration": i, "elapsed_time": 2.0 * i} for i in range(5)]
    assert seconds_left(rows, 14) == 20.0
    assert seconds_left(rows[:1], 14) is None
    assert seconds_left(rows, None) is None


@pytest.mark.parametrize("name", ["config.json", "status.json", "data.json", "metrics.jsonl", "iterations.jsonl"])
@pytest.mark.parametrize(
    "data", [b"", b"null", b"[]", b'{"recipe": 3, "train": 1, "command": []}', b"\xff\x00", b'{"state": {}}']
)
def test_malformed_files_are_no_error(tmp_path, write_run, name, data):
    run = write_run(tmp_path / "run")
    (run / name).write_bytes(data)
    assert read_record(run, "wr_x", "run").name == "run"
