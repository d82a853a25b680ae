"""`cvzoo predict --model FILE.safetensors`."""

import numpy as np
import pytest

from cvzoo.links.model.retinanet.config import RetinaNetSettings
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.serializers.model_file import save_model
from cvzoo.weights.formats.npz import write_npz
from cvzoo.weights.formats.safetensors import write_safetensors


@pytest.fixture
def retinanet(tmp_path):
    settings = RetinaNetSettings(
        n_layer=10,
        base_channels=8,
        channels=16,
        head_depth=1,
        anchor_sizes=((16,), (32,), (64,), (128,), (256,)),
        prior=0.3,
        min_size=64,
        max_size=96,
    )
    path = tmp_path / "best.safetensors"
    save_model(path, RetinaNet(None, label_names=("ape", "bee"), settings=settings))
    return path


def test_a_models_own_file_is_enough(run, photos, retinanet):
    status, printed, _ = run("predict", photos / "a.jpg", "--model", retinanet, "--score-thresh", "0.1")
    assert status == 0
    assert "ape" in printed or "bee" in printed


def test_no_such_file(run, photos, tmp_path):
    status, _, error = run("predict", photos / "a.jpg", "--model", tmp_path / "nowhere.safetensors")
    assert status != 0
    assert "nowhere.safetensors" in error


def test_a_file_that_does_not_say_what_it_is(run, photos, tmp_path):
    write_safetensors(tmp_path / "m.safetensors", {"a": np.zeros(3, np.float32)})
    status, _, error = run("predict", photos / "a.jpg", "--model", tmp_path / "m.safetensors")
    assert status != 0
    assert "does not say which" in error


@pytest.mark.parametrize("name", ["nowhere.pth", "nowhere.NPZ", "nowhere.weights"])
def test_a_word_with_the_ending_of_weights_is_a_file(run, photos, name):
    status, _, error = run("predict", photos / "a.jpg", "--model", name)
    assert status == 2
    assert f"{name}: no such file" in error


def test_a_published_file_says_how_it_becomes_a_model_file(run, photos, tmp_path):
    write_npz(tmp_path / "m.npz", {"a": np.zeros(3, np.float32)})
    status, _, error = run("predict", photos / "a.jpg", "--model", tmp_path / "m.npz")
    assert status == 2
    assert "cvzoo convert" in error


def test_what_is_no_file_of_weights_is_not_said_to_be_one(run, photos, tmp_path):
    (tmp_path / "m.pth").write_text("nothing")
    status, _, error = run("predict", photos / "a.jpg", "--model", tmp_path / "m.pth")
    assert status == 2
    assert "not a weights file" in error
