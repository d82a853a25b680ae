"""`cvzoo train` and `cvzoo rerun`, as a user has them."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from cvzoo.cli.main import main
from cvzoo.serializers import load_model
from cvzoo.training.updaters.standard_updater import StandardUpdater


@pytest.fixture
def data(tmp_path):
    """A folder in VOC's layout: bright squares on grey, 8 photos to learn from, 4 to score on."""
    root, rng = tmp_path / "data", np.random.default_rng(0)
    for folder in ("Annotations", "JPEGImages", "ImageSets/Main"):
        (root / folder).mkdir(parents=True)
    ids = [f"p{i:02}" for i in range(12)]
    for id_ in ids:
        img = rng.integers(60, 90, (96, 128, 3), dtype=np.uint8)
        y, x = int(rng.integers(4, 50)), int(rng.integers(4, 80))
        img[y : y + 40, x : x + 40] = rng.integers(180, 250, 3)
        Image.fromarray(img).save(root / f"JPEGImages/{id_}.png")
        (root / f"Annotations/{id_}.xml").write_text(
            f"<annotation><filename>{id_}.png</filename><size><width>128</width><height>96</height><depth>3</depth></size>"
            f"<object><name>square</name><bndbox><xmin>{x + 1}</xmin><ymin>{y + 1}</ymin><xmax>{x + 40}</xmax>"
            f"<ymax>{y + 40}</ymax></bndbox></object></annotation>"
        )
    (root / "ImageSets/Main/train.txt").write_text("\n".join(ids[:8]))
    (root / "ImageSets/Main/val.txt").write_text("\n".join(ids[8:]))
    return root


def train(data, out, *more):
    words = ["train", "--model", "retinanet_resnet18_small", "--data", f"voc:{data}", "--out", str(out), "--size", "96"]
    return main([*words, "--processes", "1", *more])


def test_it_prints_the_recipe_and_the_scores_and_leaves_a_model(data, tmp_path, capsys):
    assert train(data, tmp_path / "run", "--epochs", "1", "--batch-size", "2", "--seed", "7") == 0
    out = capsys.readouterr().out
    for line in (
        "8 photos to learn from, 4 to score on; classes: square",
        "  batch_size: 2",
        "  settings.min_size: 96",
    ):
        assert line in out
    assert "AP50" in out
    assert "load_model(" in out
    config = json.loads((tmp_path / "run/config.json").read_text())
    assert (config["seed"], config["recipe"]["epochs"]) == (7, 1)
    model = load_model(tmp_path / "run/best.safetensors")
    assert model.label_names == ("square",)
    assert (tmp_path / "run/report.html").is_file()


def test_it_learns(data, tmp_path, capsys):
    assert train(data, tmp_path / "run", "--epochs", "40", "--no-check") == 0
    rows = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert rows[-1]["main/loss"] < 0.5 * rows[0]["main/loss"]
    assert max(row.get("validation/main/map", 0) for row in rows) > 0.5


def test_a_compiled_training_has_the_same_numbers(data, tmp_path, capsys):
    words = ("--epochs", "3", "--batch-size", "2", "--no-check")
    rows = []
    for out, more in (("eager", ()), ("compiled", ("--compile",))):
        assert train(data, tmp_path / out, *words, *more) == 0
        lines = (tmp_path / out / "metrics.jsonl").read_text().splitlines()
        rows.append([{k: v for k, v in json.loads(line).items() if "time" not in k} for line in lines])
    assert rows[0] == rows[1]
    one, other = (load_model(tmp_path / out / "best.safetensors").state_arrays() for out in ("eager", "compiled"))
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_a_compiled_training_that_was_interrupted_goes_on_to_the_same_numbers(data, tmp_path, capsys, monkeypatch):
    words = ("--epochs", "4", "--batch-size", "2", "--no-check", "--compile")
    assert train(data, tmp_path / "whole", *words) == 0
    update, count = StandardUpdater.update, []

    def interrupted(self):
        count.append(1)
        if len(count) == 11:  # in the third of four epochs of four updates
            raise KeyboardInterrupt
        update(self)

    with monkeypatch.context() as patch:
        patch.setattr(StandardUpdater, "update", interrupted)
        assert train(data, tmp_path / "parts", *words) == 130
    assert train(data, tmp_path / "parts", *words, "--resume") == 0
    one, other = (load_model(tmp_path / out / "best.safetensors").state_arrays() for out in ("whole", "parts"))
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_a_folder_with_a_run_is_not_written_over(data, tmp_path, capsys):
    assert train(data, tmp_path / "run", "--epochs", "1", "--no-check") == 0
    assert train(data, tmp_path / "run", "--epochs", "1", "--no-check") == 2
    assert "--resume" in capsys.readouterr().err


def test_faulty_data_are_refused_before_anything_is_written(data, tmp_path, capsys):
    (data / "JPEGImages/p03.png").write_bytes((data / "JPEGImages/p03.png").read_bytes()[:200])
    assert train(data, tmp_path / "run") == 1
    assert "p03.png" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("more", "word"),
    [
        (["--epochs", "0"], "epochs"),
        (["--size", "8"], "--size"),
        (["--lr", "-1"], "lr"),
        (["--pretrained", "nothing.safetensors"], "nothing.safetensors"),
    ],
)
def test_what_cannot_be_is_told(data, tmp_path, capsys, more, word):
    assert train(data, tmp_path / "run", "--no-check", *more) == 2
    assert word in capsys.readouterr().err


def test_a_run_is_repeated_to_the_bit_from_its_folder(data, tmp_path):
    command = ["-m", "cvzoo", "train", "--model", "retinanet_resnet18_small", "--data", f"voc:{data}", "--size", "96"]
    command += ["--epochs", "1", "--processes", "1", "--no-check", "--out", "run"]
    root = pathlib.Path(__file__).resolve().parents[2]
    variables = dict(os.environ, PYTHONPATH=os.fspath(root))
    first = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, env=variables, check=False, capture_output=True, text=True
    )
    assert first.returncode == 0, first.stderr
    again = [sys.executable, "-m", "cvzoo", "rerun", "run"]
    done = subprocess.run(again, cwd=tmp_path, env=variables, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "run-again: the same to the bit" in done.stdout


def test_a_folder_without_a_run_cannot_be_repeated(tmp_path, capsys):
    assert main(["rerun", str(tmp_path)]) == 2
    assert "config.json" in capsys.readouterr().err


@pytest.mark.parametrize("dtype", ["tf32", "mixed_bf16", "mixed_fp16"])
def test_it_learns_in_fewer_bits(data, tmp_path, capsys, dtype):
    pytest.importorskip("ml_dtypes")
    assert train(data, tmp_path / "run", "--epochs", "3", "--batch-size", "2", "--no-check", "--dtype", dtype) == 0
    rows = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert rows[-1]["main/loss"] < rows[0]["main/loss"]
    arrays = load_model(tmp_path / "run/best.safetensors").state_arrays()
    assert {array.dtype.name for array in arrays.values() if array.dtype.kind == "f"} == {"float32"}
    assert json.loads((tmp_path / "run/environment.json").read_text())["dtype"] == dtype


def test_a_gpu_learns_what_the_cpu_learns(data, tmp_path, fake_gpu):
    words = ("--epochs", "1", "--batch-size", "2", "--seed", "7")
    assert train(data, tmp_path / "cpu", *words) == 0
    with fake_gpu() as machine:
        assert train(data, tmp_path / "gpu", *words, "--device", "gpu:0") == 0
        assert any(each.kind == "launch" for each in machine.recorder)
    losses = [json.loads((tmp_path / f"{name}/log").read_text())[-1]["main/loss"] for name in ("cpu", "gpu")]
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)
    mine, theirs = (load_model(tmp_path / f"{name}/best.safetensors").state_arrays() for name in ("cpu", "gpu"))
    for path, expected in mine.items():
        np.testing.assert_allclose(theirs[path], expected, rtol=0.02, atol=0.02, err_msg=path)
