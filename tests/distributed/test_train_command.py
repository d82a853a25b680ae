"""`cvzoo train` on two ranks: the losses of one process, one folder, a resumable run."""

import json
import pathlib
import sys

import numpy as np
import pytest
from on_ranks import run_ranks
from PIL import Image

from cvzoo.cli.main import main


@pytest.fixture
def images(tmp_path):
    """A folder with red and blue images, six of each to train on and three to validate on."""
    rng = np.random.default_rng(0)
    for split, n in (("train", 6), ("val", 3)):
        for name, color in (("red", (200, 30, 30)), ("blue", (30, 30, 200))):
            for k in range(n):
                path = tmp_path / "images" / split / name / f"{k}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                Image.fromarray(np.clip(rng.normal(color, 30, (32, 32, 3)), 0, 255).astype(np.uint8)).save(path)
    return tmp_path / "images"


def rows(out):
    return [json.loads(line) for line in pathlib.Path(out, "iterations.jsonl").read_text().splitlines()]


def test_two_ranks_train_as_one_process_and_resume(images, tmp_path, capsys):
    words = ["train", "--recipe", "cifar_resnet20", "--data", f"folder:{images}", "--no-check"]
    settings = ["batch_size=6", "processes=0", "lr=0.001"]
    assert main([*words, "--out", str(tmp_path / "one"), "epochs=1", *settings]) == 0
    capsys.readouterr()
    out = tmp_path / "two"
    done = run_ranks(2, "-m", "cvzoo", *words, "--out", out, "epochs=1", *settings)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("use it: cvzoo predict") == 1
    for mine, alone in zip(rows(out), rows(tmp_path / "one"), strict=True):
        assert mine["main/loss"] == pytest.approx(alone["main/loss"], rel=1e-3)
    assert rows(out)[0]["main/loss"] == pytest.approx(rows(tmp_path / "one")[0]["main/loss"], rel=1e-6)
    done = run_ranks(3, "-m", "cvzoo", "train", "--resume", out, "epochs=2")
    assert done.returncode == 0, done.stdout
    assert [row["iteration"] for row in rows(out)] == [1, 2, 3, 4]
    done = run_ranks(2, "-m", "cvzoo", *words, "--out", out, *settings)
    assert done.returncode > 0
    assert "rank 0 of 2 aborts: cvzoo train: error: " in done.stdout
    assert "already has a run" in done.stdout
    assert "killed after" not in done.stdout


def test_a_run_that_one_rank_does_not_find_is_an_error_on_all(tmp_path):
    command = {"script": None, "module": "cvzoo", "arguments": ["train", "--recipe", "ssd300"], "folder": "."}
    for name in ("here", "there"):
        (tmp_path / name / "run").mkdir(parents=True)
    (tmp_path / "here" / "run" / "config.json").write_text(json.dumps({"command": command}))
    words = ["-m", "cvzoo", "train", "--resume", "run"]
    other = [":", "-n", "1", "-wdir", tmp_path / "there", sys.executable, *words]
    done = run_ranks(1, *words, *other, folder=tmp_path / "here")
    assert done.returncode > 0
    assert done.stdout.count("--resume: only some ranks can read the run") == 2
    assert done.stdout.count("no run on rank 1") == 2


GPU_PROGRAM = """
import sys
from fake_gpu.install import fake_gpu
from cvzoo.cli.main import main

with fake_gpu(devices=int(sys.argv[1])) as machine:
    status = main(sys.argv[2:])
    print("launched on", {each.device for each in machine.recorder if each.kind == "launch"}, flush=True)
sys.exit(status)
"""


@pytest.mark.slow
def test_each_rank_trains_on_a_gpu_of_its_own(images, tmp_path):
    (tmp_path / "program.py").write_text(GPU_PROGRAM)
    words = ["train", "--recipe", "cifar_resnet20", "--data", f"folder:{images}", "--no-check"]
    settings = ["epochs=1", "batch_size=6", "processes=0", "lr=0.001"]
    for name, n, device in (("cpu", 2, "cpu"), ("own", 2, "gpu:0"), ("one", 1, "gpu:0")):
        out = tmp_path / name
        done = run_ranks(2, tmp_path / "program.py", n, *words, "--device", device, "--out", out, *settings)
        assert done.returncode == 0, done.stdout
        told = sorted(line for line in done.stdout.splitlines() if line.startswith("launched on"))
        used = {"cpu": ["set()", "set()"], "own": ["{0}", "{1}"], "one": ["{0}", "{0}"]}[name]
        assert told == [f"launched on {each}" for each in used], done.stdout
        assert ("arrays on GPUs are sent through the CPU's memory" in done.stdout) == (name == "one")
        for mine, expected in zip(rows(out), rows(tmp_path / "cpu"), strict=True):
            assert mine["main/loss"] == pytest.approx(expected["main/loss"], rel=1e-3)
