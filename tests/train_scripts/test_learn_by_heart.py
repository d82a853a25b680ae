"""The one-stage detectors' training scripts learn eight real photos by heart, and the models that they leave find
everything in them again."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from cvzoo.datasets import COCOJSONBboxDataset
from cvzoo.evaluations import eval_detection_voc
from cvzoo.serializers import load_model

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "least"),
    [
        ("train_ssd.py", 0.05),  # a mean over the default boxes that have an object
        ("train_yolov3.py", 1.0),  # a sum over a thousand predictions, of which a thousand are lost in the beginning
    ],
)
def test_eight_photos_are_learned_and_found_again(shared, tmp_path, script, least):
    file = shared / "data/tiny_coco/annotations/instances_train2017.json"
    command = [sys.executable, ROOT / "train_scripts/detection" / script, "--data", f"coco:{file},{file}"]
    variables = dict(os.environ, PYTHONPATH=os.fspath(ROOT))
    done = subprocess.run(
        [*command, "--out", "run", "--smoke"],
        cwd=tmp_path,
        env=variables,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    losses = [row["main/loss"] for row in rows]
    assert np.isfinite(losses).all()
    assert losses[-1] < least < losses[0] / 100
    assert rows[-1]["validation/main/map"] == 1

    dataset = COCOJSONBboxDataset(file)
    few = [i for i, bbox in enumerate(dataset.slice[:, "bbox"]) if 0 < len(bbox) < 5][:8]
    imgs, bboxes, labels = zip(*dataset.slice[few])
    model = load_model(tmp_path / "run/best.safetensors")
    found = model.predict(imgs)  # as a user sees it
    assert [len(bbox) for bbox in found.bboxes] == [len(bbox) for bbox in bboxes]
    assert eval_detection_voc(found.bboxes, found.labels, found.scores, bboxes, labels)["map"] == 1
