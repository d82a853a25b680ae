"""`cvzoo quantize`."""

import json

import numpy as np
import pytest
from PIL import Image

from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.serializers.model_file import load_model, save_model


@pytest.fixture
def model_file(tmp_path):
    path = tmp_path / "model.safetensors"
    save_model(path, CIFARResNet(8, 3, label_names=("ape", "bee", "cat")))
    return path


def test_a_model_file_becomes_a_smaller_one_that_predicts(run, model_file, photos, tmp_path):
    out = tmp_path / "int8.safetensors"
    status, printed, errors = run("quantize", photos, "--model", model_file, "--to", out)
    assert (status, errors) == (0, "")
    assert "6 of 8 layers in int8, ranges of 2 images by 'mse'" in printed
    assert "MB; in float32" in printed
    assert out.stat().st_size < 0.4 * model_file.stat().st_size
    assert load_model(out).quantization_report.n_quantized == 6
    assert run("predict", photos, "--model", out, "--out", tmp_path / "found", "--no-draw")[0] == 0
    assert run("predict", photos, "--model", model_file, "--out", tmp_path / "float", "--no-draw")[0] == 0
    found, there = (
        [json.loads(line) for line in (tmp_path / name / "results.jsonl").read_text().splitlines()]
        for name in ("found", "float")
    )
    assert len(found) == 2
    assert json.dumps(found) != json.dumps(there)  # bytes were asked for, and only there they are


def test_a_darknet_network_is_quantized_and_keeps_its_thresholds(run, net, photos, tmp_path):
    out = tmp_path / "int8.safetensors"
    status, _, errors = run("quantize", photos, *net, "--to", out, "--score-thresh", "0.25", "--limit", "1")
    assert (status, errors) == (0, "")
    model = load_model(out)
    assert model.score_thresh == 0.25
    assert model.quantization_report.n_photo == 1


def test_what_stays_in_float_may_be_said(run, model_file, photos, tmp_path):
    words = ["--in-float", "/stage1", "--in-float", "stage2/0/conv1", "--method", "minmax"]
    status, _, errors = run("quantize", photos, "--model", model_file, "--to", tmp_path / "o.safetensors", *words)
    assert (status, errors) == (0, "")
    report = load_model(tmp_path / "o.safetensors").quantization_report
    assert [each.path for each in report if each.why == "asked for"] == [
        "/stage1/0/conv1/conv",
        "/stage1/0/conv2/conv",
        "/stage2/0/conv1/conv",
    ]
    assert report.method == "minmax"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--to", "out.npz"], "must end in .safetensors"),
        (["--to", "nowhere/out.safetensors"], "does not exist"),
        (["--to", "out.safetensors", "--limit", "0"], "--limit must be at least 1"),
        (["--to", "out.safetensors", "--in-float", "/nowhere"], "names no layer"),
        (["--to", "out.safetensors", "nowhere.jpg"], "nowhere.jpg"),
        (["--to", "out.safetensors", "--precision", "int4"], "invalid choice"),
    ],
)
def test_words_that_make_no_sense_are_refused(run, model_file, photos, tmp_path, monkeypatch, words, says):
    monkeypatch.chdir(tmp_path)
    status, _, errors = run("quantize", photos, "--model", model_file, *words)
    assert status == 2
    assert says in errors
    assert not (tmp_path / "out.safetensors").exists()


def test_a_quantized_model_is_verified_like_any_other(run, model_file, photos, tmp_path):
    out = tmp_path / "int8.safetensors"
    run("quantize", photos, "--model", model_file, "--to", out)
    status, printed, _ = run("verify", out)
    assert status == 0
    assert "saved and loaded" in printed


def test_a_quantized_model_is_not_quantized_again(run, model_file, photos, tmp_path):
    out = tmp_path / "int8.safetensors"
    run("quantize", photos, "--model", model_file, "--to", out)
    status, _, errors = run("quantize", photos, "--model", out, "--to", tmp_path / "again.safetensors")
    assert status == 2
    assert "quantized already" in errors


def test_what_the_whole_model_lost_is_told_where_it_can_be_measured(run, model_file, photos, tmp_path):
    """The numbers are those of `cvzoo evaluate`, of both models."""
    rng = np.random.default_rng(0)
    for name in ("ape", "bee", "cat"):
        (tmp_path / "data" / name).mkdir(parents=True)
        for k in range(6):
            pixels = rng.integers(0, 256, (32, 32, 3), "uint8")
            Image.fromarray(pixels).save(tmp_path / "data" / name / f"{k}.png")
    out, spec = tmp_path / "int8.safetensors", f"folder:{tmp_path / 'data'}"
    words = ("quantize", photos, "--model", model_file, "--to", out)
    status, printed, _ = run(*words, "--evaluate", spec)
    assert status == 0
    (line,) = [line.split() for line in printed.splitlines() if line.startswith("accuracy ")]
    scores = []
    for model in (model_file, out):
        run("evaluate", "--model", model, "--data", spec, "--json", tmp_path / "scores.json")
        scores.append(json.loads((tmp_path / "scores.json").read_text())["accuracy"])
    assert line[1:4] == [f"{scores[0]:.4f}", f"{scores[1]:.4f}", f"{scores[1] - scores[0]:+.4f}"]
    assert "float32" in printed
    assert "difference" in printed
    assert "is not known" not in printed
    assert "the loss of accuracy was not measured: use --evaluate SPEC" in run(*words)[1]


@pytest.mark.parametrize("words", [("--evaluate", "folder:nowhere"), ("--evaluate-split", "val")])
def test_data_that_cannot_be_scored_are_an_error_before_anything_is_written(run, model_file, photos, tmp_path, words):
    out = tmp_path / "int8.safetensors"
    assert run("quantize", photos, "--model", model_file, "--to", out, *words)[0] == 2
    assert not out.exists()
