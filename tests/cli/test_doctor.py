"""`cvzoo doctor`."""

import json

import pytest

import cvzoo.cli.doctor as doctor
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
