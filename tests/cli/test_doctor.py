"""`cvzoo doctor`."""

import json

import pytest

import cvzoo.cli.doctor as doctor
from cvzoo.cli import doctor_mpi
from cvzoo.distributed.launching.job import AttemptReport
from cvzoo.distributed.launching.mpi_launcher import MPILauncher
from cvzoo.distributed.launching.outcome import Outcome, RankEnd
from cvzoo.errors.exceptions import BackendError


def test_it_tells_versions_threads_and_proves_a_convolution(run, monkeypatch):
    monkeypatch.setattr(doctor, "why_too_busy", lambda: None)
    status, printed, _ = run("doctor")
    assert status == 0
    for word in ("Python", "NumPy", "threads", "backend", "all is well"):
        assert word in printed


def test_on_a_busy_machine_not_all_is_well(run, monkeypatch):
    monkeypatch.setattr(doctor, "why_too_busy", lambda: "2 threads may be slower than one")
    status, printed, _ = run("doctor")
    assert status == 0
    assert "all is well" not in printed
    assert "2 threads may be slower than one" in printed.splitlines()[-1]


def test_it_tells_why_the_fast_kernels_are_not_used(run, monkeypatch):
    monkeypatch.setenv("CVZOO_BACKEND", "numpy")
    assert "CVZOO_BACKEND" in run("doctor")[1]


def test_wrong_numbers_are_not_well(run, monkeypatch):
    monkeypatch.setattr(doctor, "probe", lambda device: 0.1)
    status, printed, _ = run("doctor")
    assert status == 1
    assert "not well" in printed
    monkeypatch.setattr(doctor, "probe", lambda device: float("nan"))
    assert run("doctor")[0] == 1


def test_a_backend_that_cannot_run_is_told(run, monkeypatch):
    def fail(device):
        raise BackendError("the oneDNN backend cannot run here")

    monkeypatch.setattr(doctor, "probe", fail)
    status, printed, _ = run("doctor")
    assert status == 1
    assert "cannot run here" in printed


def test_it_can_be_read_by_programs(run, tmp_path):
    status, printed, _ = run("doctor", "--json")
    assert status == 0
    record = json.loads(printed)
    assert record["is_right"] is True
    assert record["greatest_difference"] < 1e-5
    assert record["installation"] == doctor.installation_facts()
    assert "backend" in record["kernels"]
    assert run("doctor", "--json", tmp_path / "doctor.json") == (0, "", "")
    assert json.loads((tmp_path / "doctor.json").read_text()).keys() == record.keys()


@pytest.mark.parametrize("difference", [0.1, float("nan"), None])
def test_programs_are_told_what_is_wrong_too(run, monkeypatch, difference):
    def probe(device):
        if difference is None:
            raise BackendError("the oneDNN backend cannot run here")
        return difference

    monkeypatch.setattr(doctor, "probe", probe)
    status, printed, _ = run("doctor", "--json")
    record = json.loads(printed)
    assert (status, record["is_right"]) == (1, False)
    assert (record["error"] is None) == (difference is not None)


def mpi_result(**changes):
    return {
        "launcher": "/bin/mpiexec",
        "launcher_version": "5.0.2",
        "mpi4py": "4.1.2",
        "size": 2,
        "is_right": True,
        "library": "MPICH Version: 5.0.2",
        "latency_seconds": 2e-6,
        "bandwidth": 9.3e9,
        "allreduce_bytes": 25_000_000,
        "allreduce_seconds": 0.01,
        "allreduce_bandwidth": 2.5e9,
    } | changes


def test_mpi_is_tested_if_asked_for(run, monkeypatch):
    monkeypatch.setattr(doctor, "mpi_results", mpi_result)
    status, printed, _ = run("doctor", "--mpi")
    assert status == 0
    assert "latency    2.0 us" in printed
    assert "9,300 MB/s from one process to another" in printed
    assert "of 25 MB by 2 processes: 10.0 ms, 2,500 MB/s" in printed
    assert "and an allreduce is right" in printed.splitlines()[-1]
    assert json.loads(run("doctor", "--mpi", "--json")[1])["MPI"] == mpi_result()
    assert "allreduce" not in run("doctor")[1]


def test_mpi_that_does_not_work_is_told(run, monkeypatch):
    def fail():
        raise BackendError("two processes could not communicate: rank 1 was killed by SIGKILL")

    monkeypatch.setattr(doctor, "mpi_results", fail)
    status, printed, _ = run("doctor", "--mpi")
    assert status == 1
    assert "not well: two processes could not communicate" in printed
    status, printed, _ = run("doctor", "--mpi", "--json")
    assert (status, json.loads(printed)["is_right"]) == (1, False)


def test_processes_of_another_mpi_are_alone(monkeypatch):
    outcome = Outcome(0, "done", ranks=(RankEnd(0, 0, 1, "log", ('{"size": 1, "library": "Open MPI v5"}',)),))
    monkeypatch.setattr(doctor_mpi, "find_mpi_launcher", lambda: MPILauncher("/bin/mpiexec", "mpich", "5.0.2"))
    monkeypatch.setattr(doctor_mpi, "run_job", lambda job, say: [AttemptReport(2, 1.0, "logs", outcome)])
    with pytest.raises(BackendError, match=r"use different MPI libraries[\s\S]*5\.0\.2\), and Open MPI v5"):
        doctor_mpi.mpi_results()


def test_two_processes_of_this_mpi_agree():
    pytest.importorskip("mpi4py")
    result = doctor_mpi.mpi_results()
    assert result["is_right"]
    assert result["size"] == 2
    assert result["latency_seconds"] > 0
    assert result["bandwidth"] > 0
