"""`cvzoo predict --model FILE.safetensors`."""

import numpy as np
import pytest

from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.links.model.retinanet.settings import RetinaNetSettings
from cvzoo.serializers.model_file import save_model
from cvzoo.weights.safetensors import write_safetensors


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
    assert "which model" in error
