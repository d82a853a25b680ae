"""`--device` and CVZOO_DEVICE, on a made-up GPU."""

import json

import pytest

from cvzoo.cli import on_device
from cvzoo.config.switches import switches


def _boxes(path):
    return [
        [each["y_min"], each["x_min"], each["y_max"], each["x_max"]] for each in json.loads(path.read_text())["objects"]
    ]


@pytest.fixture
def on_cpu(run, net, photos, tmp_path):
    status, _, _ = run("predict", photos / "a.jpg", *net, "--score-thresh", "0.1", "--out", tmp_path / "cpu")
    assert status == 0
    return _boxes(tmp_path / "cpu/a.json")


def test_photos_are_looked_at_on_a_gpu(run, net, photos, tmp_path, fake_gpu, on_cpu):
    with fake_gpu(devices=2) as machine:
        words = [*net, "--score-thresh", "0.1", "--out", tmp_path / "gpu", "--device", "gpu:1"]
        status, _, errors = run("predict", photos / "a.jpg", *words)
        assert status == 0, errors
        assert {each.device for each in machine.recorder if each.kind == "launch"} == {1}
    boxes = _boxes(tmp_path / "gpu/a.json")
    assert len(boxes) == len(on_cpu) > 0
    for got, expected in zip(boxes, on_cpu):
        assert got == pytest.approx(expected, abs=1e-2)
    assert switches.device == "cpu"


def test_the_environment_names_the_device(run, net, photos, tmp_path, fake_gpu, monkeypatch, on_cpu):
    monkeypatch.setenv("CVZOO_DEVICE", "gpu:0")
    with fake_gpu() as machine:
        words = [*net, "--score-thresh", "0.1", "--out", tmp_path / "gpu"]
        assert run("predict", photos / "a.jpg", *words)[0] == 0
        assert any(each.kind == "launch" for each in machine.recorder)
        machine.recorder.clear()
        assert run("predict", photos / "a.jpg", *words, "--device", "cpu")[0] == 0
        assert not any(each.kind == "launch" for each in machine.recorder)
    assert len(_boxes(tmp_path / "gpu/a.json")) == len(on_cpu)


def test_there_must_be_such_a_device(run, net, photos, monkeypatch):
    monkeypatch.setenv("CVZOO_DEVICE", "tpu")
    status, _, errors = run("predict", photos / "a.jpg", *net)
    assert status == 2
    assert "no such device" in errors
    status, _, errors = run("predict", photos / "a.jpg", *net, "--device", "gpu:99")
    assert status == 2
    assert "GPU" in errors or "gpu:99" in errors


def test_the_doctor_tells_of_gpus_and_tries_each(run, fake_gpu):
    with fake_gpu(devices=2):
        status, printed, _ = run("doctor")
    assert status == 0
    assert "gpu:1" in printed
    assert "all is well" in printed


@pytest.mark.filterwarnings("always")
def test_a_busy_machine_is_told_once_and_only_where_the_processor_computes(
    run, net, photos, tmp_path, monkeypatch, fake_gpu
):
    monkeypatch.setattr(on_device, "why_too_busy", lambda: "2 threads may be slower than one")
    words = ["predict", photos / "a.jpg", *net, "--out", tmp_path / "out"]
    assert run(*words)[2].count("cvzoo predict: 2 threads may be slower than one\n") == 1
    with fake_gpu():
        assert "slower" not in run(*words, "--device", "gpu:0")[2]
    assert "slower" not in run("models")[2]
