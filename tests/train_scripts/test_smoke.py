"""Each training script runs from end to end in its smoke configuration, and the model that it leaves predicts."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from cvzoo.images import read_image
from cvzoo.serializers import load_model

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "train_scripts/detection"


def run(script, *words, cwd):
    variables = dict(os.environ, PYTHONPATH=os.fspath(ROOT))
    command = [sys.executable, FOLDER / script, *words]
    done = subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("train_retinanet.py", ("--data", "voc:{shared}/data/bccd/BCCD")),
        ("train_retinanet_sroie.py", ("--data", "sroie:{shared}/data/sroie", "--gamma", "0.5")),
    ],
)
def test_a_script_trains_on_real_photos(shared, tmp_path, script, words):
    run(script, *(word.format(shared=shared) for word in words), "--out", "run", "--smoke", cwd=tmp_path)
    assert_is_a_run(tmp_path / "run")


@pytest.mark.slow
def test_the_shipped_detector_s_script_trains_on_rendered_documents_and_is_scored(tmp_path):
    run("train_retinanet_text.py", "--out", "run", "--smoke", cwd=tmp_path)
    assert_is_a_run(tmp_path / "run")
    out = run("score.py", "--model", "run/best.safetensors", "--data", "rendered:2", cwd=tmp_path)
    scores = json.loads(out.splitlines()[-1])
    assert scores["photos"] == 2
    assert 0 <= scores["AP50"] <= 1


def assert_is_a_run(folder):
    assert {"config.json", "metrics.jsonl", "report.html", "script.py"} <= {each.name for each in folder.iterdir()}
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert all(np.isfinite(row["main/loss"]) for row in rows)
    bboxes, labels, scores = load_model(folder / "best.safetensors").predict([np.full((3, 64, 64), 200, np.float32)])
    assert bboxes[0].shape == (len(scores[0]), 4)
    assert labels[0].dtype == np.int32


@pytest.mark.parametrize("script", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_a_script_is_short_and_has_no_loop(script):
    lines = script.read_text().splitlines()
    assert len(lines) <= 90
    assert not [line for line in lines if line.lstrip().startswith(("for ", "while "))]


def test_rendered_documents_have_a_contact_sheet(tmp_path):
    run("show_rendered_documents.py", "sheet.png", "-n", "2", "--side", "120", cwd=tmp_path)
    assert read_image(tmp_path / "sheet.png").shape[0] == 3


def test_nothing_of_the_package_needs_the_rendered_documents():
    needs = [path for path in (ROOT / "cvzoo").rglob("*.py") if "rendered_documents import" in path.read_text()]
    assert not needs
