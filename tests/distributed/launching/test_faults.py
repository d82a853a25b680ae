"""Ranks that fail in every way: each ends within a bound, with its reason, and nothing is left behind."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from cvzoo.distributed.launching import job, node_ranks
from cvzoo.distributed.launching.job import Job, run_job
from cvzoo.distributed.launching.leftovers import shared_memory

PROGRAM = str(pathlib.Path(__file__).with_name("rank_program.py"))
BOUND = 30  # seconds: on a busy machine, too, but half of the grace that a rank has which is not told to end
pytest.importorskip("mpi4py")


class Launched:
    """What a job left: reports of its attempts, messages, and seconds."""

    def __init__(self, mode, *words, n=2, **settings):
        self.messages = []
        begun = time.monotonic()
        self.reports = run_job(Job((PROGRAM, mode, *map(str, words)), n, **settings), self.messages.append)
        self.seconds = time.monotonic() - begun

    @property
    def last(self):
        return self.reports[-1].outcome

    @property
    def said(self):
        return "\n".join(self.messages)


@pytest.fixture
def launched(tmp_path):
    """Launches a mode of the program; at the end, no process of it is left."""
    before = running(PROGRAM)

    def launch(mode, *words, **settings):
        return Launched(mode, *words, **{"logs": tmp_path / "logs", "pause": 0, **settings})

    yield launch
    assert not running(PROGRAM) - before


@pytest.fixture
def no_new_segments():
    """At the end, there is no more shared memory of MPI than before."""
    before = shared_memory()
    yield
    assert not shared_memory() - before


def running(program):
    """The ids of processes whose command has the word."""
    found = set()
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            found |= {int(folder.name)} if program.encode() in words else set()
    return found


def is_alive(pid):
    """Whether the process runs: not one that has ended and that its parent has not asked about yet."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def log_of(tmp_path, rank, number=0):
    return (tmp_path / "logs" / f"attempt-{number}" / f"rank-{rank}.log").read_text()


def test_all_ranks_run_with_their_arguments_and_logs_of_their_own(launched, tmp_path, capfd):
    done = launched("done", "one", "--two=3")
    assert (done.last.status, done.last.reason) == (0, "done")
    assert [each.code for each in done.last.ranks] == [0, 0]
    for rank in (0, 1):
        assert sorted(log_of(tmp_path, rank).splitlines()) == ["an aside", f"rank {rank} of 2 one --two=3"]
    assert done.messages == []


def test_an_exception_of_one_rank_ends_all(launched, no_new_segments):
    done = launched("raised", restarts=3)
    assert len(done.reports) == 1  # an error of the program is not restarted
    assert (done.last.status, done.last.can_restart) == (1, False)
    assert done.last.reason == "rank 1 ended with exit status 1: ValueError: boom"
    assert 'raise ValueError("boom")' in done.said
    assert "rank 0 was ended with the job" in done.said
    assert done.seconds < BOUND


@pytest.mark.parametrize("mode", ["exited", "exited_with_mpi"])
def test_an_exit_status_of_one_rank_is_that_of_the_job(launched, mode):
    done = launched(mode)
    assert (done.last.status, done.last.reason) == (3, "rank 1 ended with exit status 3")
    assert done.seconds < BOUND


def test_a_killed_rank_is_named_and_the_job_restarted(launched, tmp_path):
    done = launched("killed", restarts=2, restart_words=("--resume",))
    first, second = done.reports
    assert (first.outcome.status, first.outcome.reason) == (137, "rank 1 was killed by SIGKILL")
    assert "    the last words" in done.said
    assert "restart 1 of 2 with 2 ranks --resume" in done.said
    assert second.outcome.status == 0
    assert "rank 1 of 2 --resume" in log_of(tmp_path, 1, number=1)


def test_a_rank_killed_within_mpi_ends_the_job(launched, no_new_segments):
    done = launched("killed_with_mpi", restarts=1)
    assert len(done.reports) == 2
    assert (done.last.status, done.last.reason) == (137, "rank 1 was killed by SIGKILL")
    assert done.seconds < BOUND


@pytest.mark.parametrize(("how", "n_attempt"), [("as before", 2), ("further", 3)])
def test_a_job_that_fails_twice_after_as_many_updates_is_not_restarted_again(launched, how, n_attempt):
    done = launched("killed_at_a_step", how, n=1, restarts=2)
    assert [each.outcome.step for each in done.reports] == [3, 4 if how == "further" else 3, 5][:n_attempt]
    assert ("not restarted, since it has failed twice after 3 updates" in done.said) == (how == "as before")


def test_a_crash_leaves_the_stack_in_the_log(launched):
    done = launched("segfault")
    assert (done.last.status, done.last.reason) == (139, "rank 0 was killed by SIGSEGV")
    assert "Fatal Python error: Segmentation fault" in done.said


def test_a_stopped_rank_is_named(launched):
    done = launched("stopped", patience=2)
    assert done.last.status == 124
    assert done.last.reason == "the job hangs: rank 1 has been stopped (SIGSTOP) for 2 s"
    assert done.seconds < BOUND


def test_a_deadlock_ends_with_the_stacks_of_all_ranks(launched, no_new_segments):
    done = launched("deadlock", patience=2)
    assert done.last.status == 124
    assert "no rank has shown a sign of life for 2 s" in done.last.reason
    assert "in waits_for_rank_0" in done.said
    assert "in deadlock" in done.said
    assert done.seconds < BOUND


def test_signs_of_life_keep_a_silent_rank_from_being_taken_for_hanging(launched):
    assert launched("silent_but_alive", patience=1.6).last.status == 0


def test_after_exhausted_memory_fewer_ranks_are_started(launched, tmp_path):
    done = launched("out_of_memory", n=3, restarts=1)
    assert "rank 1 ran out of memory" in done.reports[0].outcome.reason
    assert [each.n for each in done.reports] == [3, 2]
    assert "rank 0 of 2" in log_of(tmp_path, 0, number=1)


def test_with_the_least_number_of_ranks_exhausted_memory_is_the_end(launched):
    done = launched("out_of_memory", n=2, least=2, restarts=1)
    assert len(done.reports) == 1
    assert "memory does not suffice for the least number of ranks, 2" in done.said


def test_a_kill_by_the_kernel_for_memory_is_told_apart(launched, monkeypatch):
    counts = iter([4, 5])
    monkeypatch.setattr(node_ranks, "memory_kills", lambda: next(counts))
    done = launched("killed")
    assert done.last.is_memory
    assert "rank 1 ran out of memory, at a peak of" in done.last.reason


def test_a_full_disk_of_the_logs_ends_the_job(launched, tmp_path):
    folder = tmp_path / "logs" / "attempt-0"
    folder.mkdir(parents=True)
    (folder / "rank-1.log").symlink_to("/dev/full")
    done = launched("spoke_until_the_disk_was_full", restarts=2)
    assert len(done.reports) == 1
    assert done.last.status == 1
    assert done.last.reason == f"the logs in {folder} cannot be written: No space left on device"
    assert done.seconds < BOUND


def test_ranks_that_start_after_a_log_has_failed_are_ended_too(launched, tmp_path):
    folder = tmp_path / "logs" / "attempt-0"
    (folder / "rank-1.log").mkdir(parents=True)  # fails when it is opened, before any rank has started
    done = launched("waits")
    assert done.last.reason == f"the logs in {folder} cannot be written: Is a directory"
    assert done.seconds < BOUND


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_signals_of_the_user_are_passed_on_and_the_ranks_save(launched, tmp_path, name):
    done = launched("interrupts_the_launcher", name, os.getpid(), tmp_path, restarts=2)
    assert len(done.reports) == 1
    assert done.last.reason == f"interrupted by {name}"
    assert done.last.status == 128 + signal.Signals[name]
    for rank in (0, 1):
        assert "saved" in log_of(tmp_path, rank)


def test_a_signal_before_the_ranks_have_started_reaches_them(launched, monkeypatch):
    class Early(job.EndingRequest):
        def __init__(self):
            super().__init__()
            self.count, self.number = 1, signal.SIGTERM

    monkeypatch.setattr(job, "EndingRequest", Early)
    ended = launched("waits")
    assert ended.last.reason == "interrupted by SIGTERM"
    assert ended.seconds < BOUND


def test_the_first_rank_may_save_for_a_while(launched, tmp_path):
    done = launched("trainer_interrupted", os.getpid(), tmp_path / "out")
    assert done.last.status == 130
    assert "saved" in log_of(tmp_path, 0)


def test_ranks_that_do_not_end_after_the_grace_are_killed(launched):
    done = launched("ignores_signals", os.getpid(), grace=0.3)
    assert done.last.status == 130
    assert done.seconds < BOUND


def test_processes_that_ranks_started_are_ended_with_the_job(launched, tmp_path):
    done = launched("starts_others")
    pids = [
        int(line.split()[1]) for rank in (0, 1) for line in log_of(tmp_path, rank).splitlines() if "started" in line
    ]
    assert len(pids) >= 1
    assert done.last.status == 137
    assert not any(map(is_alive, pids))


def test_the_cores_are_divided_among_the_ranks_unless_threads_are_set(launched, tmp_path, monkeypatch):
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "CVZOO_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    launched("environment", n=3)
    assert "OMP_NUM_THREADS 1" in log_of(tmp_path, 2)
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    launched("environment", n=1)
    assert "OMP_NUM_THREADS 7\nOPENBLAS_NUM_THREADS None\nCVZOO_LAUNCH_RANKS 1" in log_of(tmp_path, 0)


def test_fewer_ranks_keep_the_global_batch(launched, tmp_path):
    file = tmp_path / "state.npz"
    done = launched("train", file, n=3, restarts=1, restart_words=("--resume",))
    assert [each.n for each in done.reports] == [3, 2]
    assert done.last.status == 0
    w = np.zeros(2)
    for step in range(6):
        batches = [np.random.default_rng([step, batch]).standard_normal((5, 2)) for batch in range(3)]
        x = np.concatenate(batches)
        w = w - 0.1 * 2 / 15 * x.T @ (x @ (w - [1.0, 2.0]))
    np.testing.assert_allclose(np.load(file)["w"], w, rtol=1e-12)


def test_without_a_folder_logs_are_kept_only_if_the_job_fails(launched):
    assert not launched("done", logs=None).reports[-1].logs.exists()
    failed = launched("exited", logs=None).reports[-1].logs
    assert (failed / "rank-1.log").is_file()


def test_the_timeline_has_what_all_ranks_do(launched, tmp_path):
    file = tmp_path / "timeline.json"
    done = launched("train_with_optimizer", timeline=file, logs=None)
    assert done.last.status == 0
    events = json.loads(file.read_text())["traceEvents"]
    assert {(each["pid"], each["cat"]) for each in events if each["ph"] == "X"} == {
        (rank, kind) for rank in (0, 1) for kind in ("compute", "wire", "wait")
    }
    assert "rank 1: " in done.said
    assert "of it hidden" in done.said


def test_without_communication_no_timeline_is_written(launched, tmp_path):
    done = launched("done", timeline=tmp_path / "timeline.json")
    assert not (tmp_path / "timeline.json").exists()
    assert "no rank has used create_multi_node_optimizer" in done.said


@pytest.mark.slow
def test_a_killed_launcher_takes_its_ranks_along():
    before = running(PROGRAM)
    words = [sys.executable, "-m", "cvzoo", "launch", "-n", "2", PROGRAM, "waits"]
    launcher = subprocess.Popen(words, stdout=subprocess.PIPE)
    assert launcher.stdout.readline() == b"waits\n"
    launcher.kill()
    launcher.wait()
    launcher.stdout.close()
    end = time.monotonic() + 10
    while running(PROGRAM) - before:
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a file system needs root")
def test_a_disk_that_becomes_full_ends_the_job(launched, tmp_path):
    logs = tmp_path / "logs"
    logs.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", logs], check=False)
    if mounted.returncode:
        pytest.skip("a file system cannot be mounted here")
    try:
        done = launched("spoke_until_the_disk_was_full")
    finally:
        subprocess.run(["umount", logs], check=True)
    assert done.last.reason == f"the logs in {logs}/attempt-0 cannot be written: No space left on device"
