"""Receipts of SROIE's layout: a training on the studio's version has the bits of one on the original."""

import json
import subprocess
import sys

import numpy as np
import pytest

from cvzoo.studio.worker.sample import draw_receipt

pytestmark = pytest.mark.slow
SETTINGS = [
    *("epochs=2", "batch_size=2", "processes=0", "model.min_size=96", "model.max_size=128", "model.base_channels=4"),
    *("model.channels=8", "model.head_depth=1"),
]


@pytest.fixture
def receipts(tmp_path):
    """Six receipts in SROIE's layout, whose lists are not sorted."""
    root = tmp_path / "sroie"
    for name in ("img", "box"):
        (root / name).mkdir(parents=True)
    names = [f"X{i:03}" for i in (4, 1, 5, 0, 3, 2)]
    for i, name in enumerate(names):
        image, lines = draw_receipt(np.random.default_rng((1, i)))
        image.convert("RGB").save(root / "img" / f"{name}.jpg", quality=90)
        texts = [f"{x0:g},{y0:g},{x1:g},{y0:g},{x1:g},{y1:g},{x0:g},{y1:g},{text}" for y0, x0, y1, x1, text in lines]
        (root / "box" / f"{name}.csv").write_text("\n".join(texts) + "\n")
    (root / "train.txt").write_text("\n".join(names[:4]) + "\n")
    (root / "val.txt").write_text("\n".join(names[4:]) + "\n")
    return root


def trained(data, out):
    words = ["train", "--recipe", "retinanet_resnet18_small", f"--data={data}", "--out", str(out), *SETTINGS]
    subprocess.run([sys.executable, "-m", "cvzoo", *words], check=True, capture_output=True)
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in row.items() if key != "elapsed_time"} for row in rows]


def test_a_version_of_receipts_trains_to_the_bits_of_the_plain_command(browser, studio, work, receipts, tmp_path):
    body = {"name": "receipts", "source": {"spec": f"sroie:{receipts}"}}
    path = f"/api/v1/datasets/{browser.post('/api/v1/datasets', json=body).json()['id']}"
    work(studio)
    version = browser.post(f"{path}/versions", json={"name": "first"}).json()
    work(studio)
    data = browser.get(f"/api/v1/versions/{version['id']}").json()["data"]
    plain, ours = trained(f"sroie:{receipts}", tmp_path / "plain"), trained(data, tmp_path / "ours")
    assert ours == plain
    assert any("validation/main/map" in row for row in plain)
    model = "best.safetensors"
    assert (tmp_path / "ours" / model).read_bytes() == (tmp_path / "plain" / model).read_bytes()
