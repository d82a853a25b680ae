"""`cvzoo export`."""

import builtins
import importlib
import json
import pathlib

import pytest
from neighbour import module_at

from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.serializers.model_file import save_model

_INSTANCES = module_at(pathlib.Path(__file__).parents[1] / "links" / "model" / "test_instance_networks.py")


@pytest.fixture
def model_file(tmp_path):
    path = tmp_path / "model.safetensors"
    save_model(path, CIFARResNet(8, 3, label_names=("ape", "bee", "cat")))
    return path


def test_a_model_file_is_exported_and_checked(run, model_file, tmp_path):
    pytest.importorskip("onnxruntime", reason="needs ONNX Runtime: pip install onnxruntime")
    status, printed, errors = run("export", model_file, "--format", "onnx", "--to", tmp_path / "out.onnx")
    assert (status, errors) == (0, "")
    assert "x (batch, 3, height, width)" in printed
    assert "scores (batch, 3)" in printed
    assert "ONNX Runtime differs by at most" in printed


def test_batch_and_size_may_be_fixed(run, model_file, tmp_path):
    words = ["--batch", "4", "--size", "40,48"]
    status, printed, _ = run("export", model_file, "--format", "onnx", "--to", tmp_path / "out.onnx", *words)
    assert status == 0
    assert "x (4, 3, 40, 48)" in printed


@pytest.mark.slow
def test_a_detector_is_exported_with_boxes(run, tmp_path):
    pytest.importorskip("onnxruntime", reason="needs ONNX Runtime: pip install onnxruntime")
    words = ["--to", tmp_path / "out.onnx", "--preset", "evaluate", "--batch", "1"]
    status, printed, errors = run("export", "retinanet_text", "--format", "onnx", *words)
    assert (status, errors) == (0, "")
    assert "photo (1, 4)" in printed
    assert "and 0 others" in printed
    texts = importlib.import_module("onnxruntime").InferenceSession(tmp_path / "out.onnx").get_modelmeta()
    assert json.loads(texts.custom_metadata_map["boxes"])["score_thresh"] == 0.05
    assert json.loads(texts.custom_metadata_map["weights"])["name"] == "retinanet_text"


@pytest.mark.parametrize(
    ("name", "has"), [("MaskRCNNFPN", "masks (found, 14, 14)"), ("KeypointRCNNFPN", "points (found, 17, 2)")]
)
def test_what_finds_instances_is_exported_with_them(name, has, run, tmp_path):
    pytest.importorskip("onnxruntime", reason="needs ONNX Runtime: pip install onnxruntime")
    save_model(tmp_path / "in.safetensors", _INSTANCES._made(name), metadata={"run": "first"})
    words = ["--to", tmp_path / "out.onnx", "--preset", "evaluate"]
    status, printed, errors = run("export", tmp_path / "in.safetensors", "--format", "onnx", *words)
    assert (status, errors) == (0, "")
    assert "x (batch, 3, height, width)" in printed
    assert has in printed
    assert "and 0 others" in printed


def test_what_a_model_file_says_stays_beside_what_we_say(run, tmp_path):
    pytest.importorskip("onnxruntime", reason="needs ONNX Runtime: pip install onnxruntime")
    save_model(tmp_path / "in.safetensors", CIFARResNet(8, 3), metadata={"task": "cooking", "by": "me"})
    status, _, errors = run(
        "export", tmp_path / "in.safetensors", "--format", "onnx", "--to", tmp_path / "out.onnx", "--size", "32,32"
    )
    assert (status, errors) == (0, "")
    session = importlib.import_module("onnxruntime").InferenceSession(tmp_path / "out.onnx")
    texts = session.get_modelmeta().custom_metadata_map
    assert (texts["task"], texts["file_task"], texts["by"]) == ("classification", "cooking", "me")


def test_what_heads_say_can_be_had(run, tmp_path):
    words = ["--to", tmp_path / "out.onnx", "--no-boxes", "--batch", "1"]
    status, printed, errors = run("export", "retinanet_text", "--format", "onnx", *words)
    assert (status, errors) == (0, "")
    assert "output1 (1, " in printed


def test_without_onnx_runtime_it_says_that_nothing_was_checked(run, model_file, tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name == "onnxruntime":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    status, printed, _ = run("export", model_file, "--format", "onnx", "--to", tmp_path / "out.onnx")
    assert status == 0
    assert "not checked" in printed
    assert (tmp_path / "out.onnx").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--format", "onnx", "--to", "out.pb"], ".onnx"),
        (["--format", "onnx", "--to", "nowhere/out.onnx"], "does not exist"),
        (["--format", "onnx", "--to", "out.onnx", "--boxes"], "boxes of a CIFARResNet"),
        (["--format", "onnx", "--to", "out.onnx", "--size", "100000,100000"], "memory"),
        (["--format", "onnx", "--to", "out.onnx", "--preset", "evaluate"], "--preset"),
        (
            ["--format", "onnx", "--to", "out.onnx", "--size", "40"],
            "--size: expected height and width as 480,640",
        ),
        (["--format", "onnx", "--to", "out.onnx", "--size", "40x50"], "--size: expected height and width"),
        (
            ["--format", "onnx", "--to", "out.onnx", "--batch", "many"],
            "--batch: expected an integer or dynamic",
        ),
        (["--format", "onnx", "--to", "out.onnx", "--batch", "0"], "at least 1"),
        (["--format", "tflite", "--to", "out.onnx"], "--format"),
        (["--format", "onnx"], "--to"),
    ],
)
def test_what_makes_no_sense_is_named(run, model_file, tmp_path, monkeypatch, words, says):
    monkeypatch.chdir(tmp_path)
    status, _, errors = run("export", model_file, *words)
    assert status == 2
    assert says in errors
    assert not (tmp_path / "out.onnx").exists()


def test_a_network_of_darknets_files_is_exported_and_onnx_is_the_default_format(run, net, tmp_path):
    words = ("--to", tmp_path / "out.onnx")
    status, printed, errors = run("export", *net, *words)
    assert (status, errors) == (0, "")
    assert "boxes" in printed
    assert (tmp_path / "out.onnx").stat().st_size > 1000
    status, _, errors = run("export", *words)
    assert (status, "no model was given" in errors) == (2, True)
