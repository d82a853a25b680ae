"""Finding mpiexec, and the commands of ranks."""

import os
import sys

import pytest

from cvzoo.distributed.launching import mpi_launcher
from cvzoo.distributed.launching.mpi_launcher import MPILauncher, find_mpi_launcher, python_program
from cvzoo.errors.exceptions import BackendError, MissingExtraError


def fake_mpiexec(folder, text, status=0):
    path = folder / "mpiexec"
    path.write_text(f"#!/bin/sh\necho '{text}'\nexit {status}\n")
    path.chmod(0o755)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A folder for programs, of a Python with mpi4py but without mpiexec."""
    monkeypatch.setattr(mpi_launcher, "find_spec", lambda name: name)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}/bin")
    (tmp_path / "bin").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("HYDRA build details:\n    Version:            5.0.2", "mpich"),
        ("mpiexec (Open MPI) 5.0.11", "openmpi"),
        ("Another MPI, version 1", "other"),
    ],
)
def test_the_kind_of_mpi_is_read_from_its_version(elsewhere, text, kind):
    fake_mpiexec(elsewhere / "bin", text)
    found = find_mpi_launcher()
    assert (found.path, found.kind) == (str(elsewhere / "bin" / "mpiexec"), kind)


def test_the_one_next_to_python_comes_first(elsewhere):
    fake_mpiexec(elsewhere, "HYDRA\nVersion: 5.0.2")
    fake_mpiexec(elsewhere / "bin", "mpiexec (Open MPI) 5.0.11")
    assert find_mpi_launcher() == (str(elsewhere / "mpiexec"), "mpich", "5.0.2")


def test_what_is_missing_is_said_with_the_pip_command(elsewhere, monkeypatch):
    monkeypatch.setenv("PATH", str(elsewhere / "bin"))
    with pytest.raises(MissingExtraError, match=r'mpiexec was not found[^$]*pip install "cvzoo\[mpi\]"'):
        find_mpi_launcher()
    monkeypatch.setattr(mpi_launcher, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r'mpi4py is not installed[^$]*pip install "cvzoo\[mpi\]"'):
        find_mpi_launcher()


def test_one_that_does_not_run_is_an_error(elsewhere):
    fake_mpiexec(elsewhere / "bin", "no libmpi", status=1)
    with pytest.raises(BackendError, match="does not run"):
        find_mpi_launcher()


def test_each_rank_runs_as_a_program_whose_errors_end_all(tmp_path):
    (tmp_path / "own.py").touch()
    assert python_program([str(tmp_path / "own.py"), "-x"])[1:] == ["-m", "mpi4py", str(tmp_path / "own.py"), "-x"]
    assert python_program(["train", "--out", "a"])[1:] == ["-m", "mpi4py", "-m", "cvzoo", "train", "--out", "a"]


def test_open_mpi_may_run_more_ranks_than_cores():
    words = MPILauncher("mpiexec", "openmpi", "5").command(3, ["python"])
    assert words[:4] == ["mpiexec", "--oversubscribe", "--bind-to", "none"]
    assert words[-1] == "python"
