"""The classifiers' training scripts learn eight real photos by heart, and the models that they leave name them again;
one that is taught other classes begins with a file of torchvision's names."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from cvzoo.datasets import DirectoryParsingLabelDataset
from cvzoo.serializers import load_model

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "train_scripts/classification"
LEAVES = {"W": "weight", "b": "bias", "gamma": "weight", "beta": "bias"}
LEAVES |= {"avg_mean": "running_mean", "avg_var": "running_var", "N": "num_batches_tracked"}


def run(script, *words, cwd):
    done = subprocess.run(
        [sys.executable, FOLDER / script, *words, "--smoke"],
        cwd=cwd,
        env=dict(os.environ, PYTHONPATH=os.fspath(ROOT)),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stderr


def rows_of(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def classes_of_photos(root, photos, n_class):
    """Folders train and val of the same photos, one class after another."""
    for i, photo in enumerate(photos):
        for split in ("train", "val"):
            folder = root / split / f"class {i % n_class}"
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(photo, folder)


@pytest.fixture(scope="module")
def photos(shared):
    return sorted((shared / "data/tiny_coco/train2017").glob("*.jpg"))


@pytest.fixture(scope="module")
def learned(photos, tmp_path_factory):
    """A folder with eight photos, and the run that learned them."""
    folder = tmp_path_factory.mktemp("learned")
    classes_of_photos(folder / "photos", photos[:8], 8)
    run("train_resnet.py", "--data", "folder:photos", "--out", "run", cwd=folder)
    return folder


@pytest.mark.slow
def test_eight_photos_are_learned_and_named_again(learned):
    rows = rows_of(learned / "run")
    losses = [row["main/loss"] for row in rows]
    assert np.isfinite(losses).all()
    assert losses[-1] < 0.02
    assert losses[0] > 20 * losses[-1]
    assert rows[-1]["validation/main/top1_accuracy"] == 1

    dataset = DirectoryParsingLabelDataset(learned / "photos/val")
    result = load_model(learned / "run/best.safetensors").predict(dataset.img_paths)
    np.testing.assert_array_equal(result.labels, dataset.labels)
    assert result.top(1).names == [[f"class {i}"] for i in range(8)]
    assert result.probs.max(axis=1).min() > 0.5


@pytest.mark.slow
def test_a_network_of_a_file_is_taught_other_classes(learned, photos, tmp_path):
    classes_of_photos(tmp_path / "own", photos[-8:], 4)
    before = load_model(learned / "run/best.safetensors").state_arrays()
    np.savez(tmp_path / "resnet.npz", **as_torchvision(before))
    words = ("--data", "folder:own", "--out", "run", "--weights", "resnet.npz")
    said = run("finetune_resnet.py", *words, cwd=tmp_path)
    assert re.search(r"2 initialized anew: fc/W, fc/b", said)
    rows = rows_of(tmp_path / "run")
    assert rows[-1]["main/loss"] < 0.1
    assert rows[-1]["validation/main/top1_accuracy"] == 1

    model = load_model(tmp_path / "run/best.safetensors")
    dataset = DirectoryParsingLabelDataset(tmp_path / "own/val")
    np.testing.assert_array_equal(model.predict(dataset.img_paths).labels, dataset.labels)
    after = model.state_arrays()
    for name in before.keys() - {"fc/W", "fc/b"}:
        learns = name.endswith("/W") and not name.startswith(("extractor/conv1/", "extractor/res2/"))
        assert np.array_equal(before[name], after[name]) != learns, name


def as_torchvision(arrays):
    """Arrays of a ResNet by our names, as torchvision names them."""
    named = {}
    for path, array in arrays.items():
        place, _, leaf = path.rpartition("/")
        place = re.sub(r"^extractor/conv1/(conv|bn)$", r"\g<1>1", place)
        place = re.sub(r"^extractor/res(\d)/", lambda match: f"layer{int(match[1]) - 1}/", place)
        place = re.sub(r"/conv(\d)/(conv|bn)$", r"/\2\1", place)
        place = place.replace("/shortcut/conv", "/downsample/0").replace("/shortcut/bn", "/downsample/1")
        named[f"{place.replace('/', '.')}.{LEAVES[leaf]}"] = array
    return named


@pytest.mark.parametrize("script", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_a_script_is_short_and_has_no_loop(script):
    lines = script.read_text().splitlines()
    assert len(lines) <= 100
    assert not [line for line in lines if line.lstrip().startswith(("for ", "while "))]
