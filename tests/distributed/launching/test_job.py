"""Jobs that cannot be started, and the time between attempts."""

import resource
import tempfile

import pytest

from cvzoo.distributed.launching import job, local_engine
from cvzoo.distributed.launching.mpi_launcher import MPILauncher
from cvzoo.distributed.launching.outcome import Outcome
from cvzoo.errors.exceptions import ConfigError


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder for temporary files, without MPI."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(local_engine, "find_mpi_launcher", lambda: MPILauncher("mpiexec", "mpich", "4"))
    return tmp_path


def test_more_ranks_than_files_may_be_open_are_refused(temporary, monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 4096))
    with pytest.raises(ConfigError, match="2000 ranks need 6064 open files, and the limit is 4096"):
        job.run_job(job.Job(("program.py",), 2000), print)


def test_the_limit_of_open_files_is_raised_for_many_ranks(temporary, monkeypatch):
    raised = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 4096))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: raised.append(limits))
    monkeypatch.setattr(job, "_attempt", lambda *_: pytest.fail("started", pytrace=False))
    with pytest.raises(pytest.fail.Exception):
        job.run_job(job.Job(("program.py",), 400), print)
    assert raised == [(4064, 4096)]
    assert list(temporary.iterdir()) == []  # no folder for logs is left of a job that was not started


def test_the_time_before_a_restart_doubles_up_to_a_minute(temporary, monkeypatch):
    waited = []
    failed = Outcome(137, "rank 0 was killed by SIGKILL", can_restart=True)
    monkeypatch.setattr(
        job, "_attempt", lambda of, engine, n, number, logs, ending: job.AttemptReport(n, 1.0, logs, failed)
    )
    monkeypatch.setattr(job.EndingRequest, "wait", lambda self, seconds: waited.append(seconds))
    assert len(job.run_job(job.Job(("program.py",), 2, restarts=8), lambda text: None)) == 9
    assert waited == [1, 2, 4, 8, 16, 32, 60, 60]


def test_a_signal_while_waiting_for_a_restart_ends_the_job(temporary, monkeypatch):
    failed = Outcome(137, "rank 0 was killed by SIGKILL", can_restart=True)
    monkeypatch.setattr(
        job, "_attempt", lambda of, engine, n, number, logs, ending: job.AttemptReport(n, 1.0, logs, failed)
    )
    monkeypatch.setattr(job.EndingRequest, "wait", lambda self, seconds: True)
    assert len(job.run_job(job.Job(("program.py",), 2, restarts=8), lambda text: None)) == 1
