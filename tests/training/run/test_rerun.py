"""Runs that are repeated."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from cvzoo.errors.exceptions import FileFormatError, UnsupportedError, ValueRangeError
from cvzoo.training.run.rerun import rerun

SCRIPT = """
import argparse
import numpy as np
import beside
import cvzoo.links as L
from cvzoo.iterators import SerialIterator
from cvzoo.optimizers import SGD
from cvzoo.training import Run, StandardUpdater, Trainer

parser = argparse.ArgumentParser()
parser.add_argument("--out")
parser.add_argument("--data")
args = parser.parse_args()
xs = np.loadtxt(args.data, dtype=np.float32).reshape(-1, 4)
data = [(x, np.int32(i % 3)) for i, x in enumerate(xs)]
run = Run(args.out, {"lr": beside.LR}, seed=3, data={"train": data})
model = L.Classifier(L.Linear(4, 3))
updater = StandardUpdater(SerialIterator(data, 5), SGD(lr=beside.LR).setup(model))
trainer = Trainer(updater, (2, "epoch"), out=run.out)
run.extend(trainer, model.predictor, best="main/accuracy")
trainer.run()
"""
PACKAGE = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A folder with a script, its data, and a run of it in runs/a."""
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE))
    monkeypatch.setenv("CVZOO_NUM_THREADS", "1")
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts/train.py").write_text(SCRIPT)
    (tmp_path / "scripts/beside.py").write_text("LR = 0.1\n")
    numbers = " ".join(str(i % 7 / 7) for i in range(80))
    (tmp_path / "data.txt").write_text(numbers)
    words = [sys.executable, "scripts/train.py", "--out", "runs/a", "--data", "data.txt"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


def test_a_run_can_be_repeated_to_the_bit(made, capfd):
    found = rerun(made / "runs/a", made / "runs/b")
    assert found.status == 0, capfd.readouterr().err
    assert found.notes == ()
    assert found.folder == str(made / "runs/b")
    a, b = ((made / name / "best.safetensors").read_bytes() for name in ("runs/a", "runs/b"))
    assert a == b


def test_how_busy_the_machine_was_is_no_difference_and_another_numpy_is(made):
    path = made / "runs/a/environment.json"
    moment = {"load": "this process waited 97% of its time", "waiting threads": "spin 7 times", "memory pool": "1 MiB"}
    path.write_text(json.dumps(json.loads(path.read_text()) | moment | {"NumPy": "0.1"}))
    (note,) = rerun(made / "runs/a", made / "runs/b").notes
    assert note.startswith("NumPy: 0.1 was")


@pytest.mark.slow
def test_the_copy_of_the_script_is_what_is_run(made):
    (made / "scripts/train.py").write_text("raise SystemExit(9)")
    assert rerun(made / "runs/a", made / "runs/b").notes == ()


@pytest.mark.slow
def test_what_differs_is_named(made):
    (made / "data.txt").write_text(" ".join(["1"] * 80))
    notes = rerun(made / "runs/a", made / "runs/b").notes
    assert notes[0] == "the data 'train' differ"
    assert any(note.startswith("main/loss at iteration") for note in notes)
    assert "best.safetensors differs" in notes


def test_a_script_that_fails_is_told(made):
    (made / "scripts/beside.py").write_text("raise SystemExit(9)")
    found = rerun(made / "runs/a", made / "runs/b")
    assert found.status == 9
    assert found.notes == ("its process ended with status 9", "it ended before the run began")


def test_folders_that_hold_a_run_or_none_are_refused(made):
    with pytest.raises(ValueRangeError, match="already has a run"):
        rerun(made / "runs/a", made / "runs/a")
    with pytest.raises(FileFormatError, match="has no run"):
        rerun(made / "runs/c", made / "runs/b")
    (made / "runs/a/config.json").write_text("[]")
    with pytest.raises(FileFormatError, match="does not have the command"):
        rerun(made / "runs/a", made / "runs/b")
    (made / "runs/a/config.json").write_text("{")
    with pytest.raises(FileFormatError, match="is damaged"):
        rerun(made / "runs/a", made / "runs/b")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"arguments": ["--data", "data.txt"]}, "does not have the folder as an argument"),
        ({"folder": "../../gone"}, "which no longer exists"),
        ({"script": None}, "cannot be repeated"),
    ],
)
def test_what_cannot_be_repeated_is_told(made, change, says):
    path = made / "runs/a/config.json"
    config = json.loads(path.read_text())
    config["command"].update(change)
    path.write_text(json.dumps(config))
    with pytest.raises(UnsupportedError, match=says):
        rerun(made / "runs/a", made / "runs/b")
    assert not os.path.exists(made / "runs/b")


@pytest.mark.parametrize("words", [["--config", "mine.toml"], ["--config=mine.toml"], []])
def test_a_training_by_a_recipe_is_repeated_with_the_recipe_in_its_folder(tmp_path, monkeypatch, words):
    folder = tmp_path / "runs/a"
    folder.mkdir(parents=True)
    arguments = ["train", "--recipe", "ssd300", *words, "lr=0.1", "--out", "{out}"]
    command = {"script": None, "module": "cvzoo", "arguments": arguments, "folder": "../.."}
    (folder / "config.json").write_text(json.dumps({"command": command}))
    (folder / "recipe.toml").write_text("recipe = 'ssd300'")
    started = []

    def run(given, **rest):
        started.extend(given)
        return subprocess.CompletedProcess(given, 1)

    monkeypatch.setattr(subprocess, "run", run)
    rerun(folder, tmp_path / "b", python="python")
    assert started[:6] == ["python", "-m", "cvzoo", "train", "--recipe", "ssd300"]
    assert started[6:] == ["lr=0.1", "--out", str(tmp_path / "b"), "--config", str(folder / "recipe.toml")]
