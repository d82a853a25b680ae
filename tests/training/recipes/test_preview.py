"""What is shown of a training before it is started."""

import json

import numpy as np
import pytest
from drawn_data import DRAWN

from cvzoo.images import read_image
from cvzoo.training.recipes.listing import RECIPES
from cvzoo.training.recipes.preview import preview
from cvzoo.training.recipes.settings import with_settings
from cvzoo.training.recipes.training import Training

TINY = {"model.min_size": 64, "model.max_size": 96, "model.channels": 16, "model.base_channels": 8, "processes": 0}


def recipe(tmp_path, **more):
    settings = TINY | {"data": DRAWN["detection"](tmp_path), "epochs": 3, "batch_size": 4} | more
    return with_settings(RECIPES["retinanet_resnet18_small"], {key: str(value) for key, value in settings.items()})


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
@pytest.mark.parametrize("schedule", ["cosine", "constant"])
def test_the_learning_rates_are_those_of_the_training(tmp_path, optimizer, schedule):
    mine = recipe(tmp_path, epochs=12, optimizer=optimizer, schedule=schedule)
    splits = mine.splits()
    training = Training(mine, splits, tmp_path / "run")
    optimizer = training.trainer.updater.get_optimizer("main")
    shift = mine.shift(len(splits.train))
    shift.initialize(training.trainer)
    used = []
    for _ in range(12):
        used.append(optimizer.lr * getattr(optimizer, "eta", 1.0))
        shift(training.trainer)
    training.trainer.updater.finalize()
    found = preview(mine, splits)
    assert [update for update, _ in found.rates] == list(range(12))
    np.testing.assert_allclose([rate for _, rate in found.rates], used, rtol=1e-6)


def test_the_first_images_and_the_reach_are_those_of_the_run(tmp_path):
    mine = recipe(tmp_path)
    splits = mine.splits()
    found = preview(mine, splits)
    training = Training(mine, splits, tmp_path / "run")
    training.trainer.updater.update()
    training.trainer.updater.finalize()
    drawn = read_image(tmp_path / "run" / "images" / "first_batch.jpg")
    assert found.sheet.shape == drawn.shape
    assert np.abs(found.sheet - drawn).mean() < 3  # but for JPEG
    reach = json.loads((tmp_path / "run" / "anchors.json").read_text())
    assert found.reach["n_box"] == reach["n_box"]
    assert found.reach["reached"] == reach["reached"]


def test_a_network_without_anchors_has_no_reach(tmp_path):
    classifier = with_settings(RECIPES["cifar_resnet20"], {"data": DRAWN["classification"](tmp_path), "processes": "0"})
    assert preview(classifier, classifier.splits()).reach is None
