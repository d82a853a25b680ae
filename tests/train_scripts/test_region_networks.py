"""The scripts of two-stage detectors learn eight photos by heart, and what they leave finds the objects again."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from cvzoo.datasets import COCOJSONInstanceSegmentationDataset
from cvzoo.serializers import load_model

ROOT = pathlib.Path(__file__).resolve().parents[2]
PHOTOS = [1, 6, 10, 12, 14, 22, 30, 35]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("detection/train_faster_rcnn_fpn.py", ("--data", "coco:{json},{json}")),
        ("instance_segmentation/train_mask_rcnn.py", ("--train", "{json}", "--val", "{json}")),
    ],
)
def test_a_script_learns_eight_photos_by_heart(shared, tmp_path, script, words):
    path = shared / "data/tiny_coco/annotations/instances_train2017.json"
    command = [sys.executable, ROOT / "train_scripts" / script, *(word.format(json=path) for word in words)]
    variables = dict(os.environ, PYTHONPATH=os.fspath(ROOT))
    done = subprocess.run(
        [*command, "--out", "run", "--smoke"],
        cwd=tmp_path,
        env=variables,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert rows[-1]["main/loss"] < 0.15 * rows[0]["main/loss"]
    assert rows[-1]["validation/main/map"] > 0.9
    model = load_model(tmp_path / "run/best.safetensors")
    dataset = COCOJSONInstanceSegmentationDataset(path, use_crowded=False, return_bbox=True)
    result = model.predict([dataset[i][0] for i in PHOTOS])
    n_found = sum(len(each) for each in result.labels)
    n_object = sum(len(dataset[i][2]) for i in PHOTOS)
    assert 0.7 * n_object <= n_found <= 1.3 * n_object
    assert np.concatenate(result.scores).min() > 0.5


@pytest.mark.parametrize(
    "script", sorted((ROOT / "train_scripts/instance_segmentation").glob("*.py")), ids=lambda path: path.name
)
def test_a_script_has_no_loop(script):
    lines = script.read_text().splitlines()
    assert len(lines) <= 100
    assert not [line for line in lines if line.lstrip().startswith(("for ", "while "))]
