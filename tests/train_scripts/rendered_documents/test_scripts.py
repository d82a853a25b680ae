"""The scripts around the rendered documents: scores of a detector, and a contact sheet."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from cvzoo.images import read_image

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "train_scripts/detection"
SMALL = "pretrained=none batch_size=4 warmup=1 model.min_size=96 model.max_size=160 model.channels=16"


def run(script, *words, cwd):
    command = [sys.executable, FOLDER / script, *words]
    variables = dict(os.environ, PYTHONPATH=os.fspath(FOLDER.parents[1]))
    done = subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
def test_the_shipped_detector_s_script_trains_on_rendered_documents_and_is_scored(tmp_path):
    run("train_retinanet_text.py", "--data", "rendered:16", "--out", "run", *SMALL.split(), cwd=tmp_path)
    found = {each.name for each in (tmp_path / "run").iterdir()}
    assert {"config.json", "metrics.jsonl", "report.html", "script.py", "best.safetensors"} <= found
    out = run("score.py", "--model", "run/best.safetensors", "--data", "rendered:2", cwd=tmp_path)
    scores = json.loads(out.splitlines()[-1])
    assert scores["photos"] == 2
    assert 0 <= scores["AP50"] <= 1


def test_rendered_documents_have_a_contact_sheet(tmp_path):
    run("show_rendered_documents.py", "sheet.png", "-n", "2", "--side", "120", cwd=tmp_path)
    assert read_image(tmp_path / "sheet.png").shape[0] == 3
