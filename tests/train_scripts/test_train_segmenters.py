"""The segmenters' training scripts learn CamVid's frame by heart, and the models that they leave find its map again."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

from cvzoo.datasets import CamVidDataset
from cvzoo.serializers import load_model
from cvzoo.transforms import resize, resize_label_map

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "train_scripts/semantic_segmentation"


@pytest.fixture
def camvid(shared, tmp_path):
    """A folder as CamVid's, with one frame."""
    root = tmp_path / "camvid"
    root.mkdir()
    for name in ("image.png", "label.png"):
        shutil.copy(shared / "data/camvid_sample" / name, root / name)
    for split in ("train", "val", "test"):
        (root / f"{split}.txt").write_text("/SegNet/CamVid/image.png /SegNet/CamVid/label.png\n")
    return root


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "size", "key", "most", "least"),
    [
        ("train_segnet.py", (90, 120), "main/loss", 0.02, 0.985),
        # scores of stride 8 cannot follow poles that are one pixel wide: the rest of the loss lies along them
        ("train_pspnet.py", (161, 209), "main/loss/main", 0.13, 0.95),
        ("train_deeplab.py", (161, 209), "main/loss/main", 0.18, 0.94),
    ],
)
def test_a_frame_is_learned_and_its_map_found_again(camvid, tmp_path, script, size, key, most, least):
    done = subprocess.run(
        [sys.executable, FOLDER / script, "--data", f"camvid:{camvid}", "--out", "run", "--smoke"],
        cwd=tmp_path,
        env=dict(os.environ, PYTHONPATH=os.fspath(ROOT)),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    losses = [row[key] for row in rows]
    assert np.isfinite(losses).all()
    assert losses[-1] < most < losses[0] / 5

    img, label = CamVidDataset(camvid)[0]
    img, label = resize(img, size), resize_label_map(label, size)
    model = load_model(tmp_path / "run/best.safetensors")
    found = model.predict([img])[0]
    known = label >= 0
    assert (found == label)[known].mean() > least


@pytest.mark.parametrize("script", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_a_script_has_no_loop(script):
    lines = script.read_text().splitlines()
    assert len(lines) <= 110
    assert not [line for line in lines if line.lstrip().startswith(("for ", "while "))]
