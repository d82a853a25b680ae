"""Every family's recipe, tiny, on drawn data: trained, killed, resumed to the same bits."""

import dataclasses
import json
import pickle

import numpy as np
import pytest
from drawn_data import DRAWN

from cvzoo.config import using_config
from cvzoo.errors.exceptions import FileError
from cvzoo.serializers import load_model
from cvzoo.training.extensions import run_report
from cvzoo.training.extensions.plot_report import PlotReport
from cvzoo.training.recipes import training
from cvzoo.training.recipes.config_file import read_recipe, recipe_to_toml
from cvzoo.training.recipes.listing import RECIPES
from cvzoo.training.recipes.settings import with_settings
from cvzoo.training.recipes.ssd_recipe import SSDRecipe
from cvzoo.training.recipes.training import Training
from cvzoo.training.recipes.yolo_v3_recipe import YOLOv3Recipe
from cvzoo.training.run.anchor_reach import anchor_reach
from cvzoo.training.run.run_report import write_run_report
from cvzoo.training.updaters.standard_updater import StandardUpdater

TINY_CFG = """[net]
width=64
height=64
channels=3
[convolutional]
batch_normalize=1
filters=8
size=3
stride=8
pad=1
activation=leaky
[dropout]
probability=.1
[convolutional]
filters=255
size=1
activation=linear
[yolo]
mask=0,1
anchors=12,18, 37,49, 52,132
classes=80
num=3
scale_x_y=1.05
"""
# settings that make a recipe tiny; a row for each class of recipes
TINY = {
    "retinanet_resnet18_small": {
        "model.min_size": 64,
        "model.max_size": 96,
        "model.channels": 16,
        "model.base_channels": 8,
    },
    "fcos_resnet18": {
        "model.min_size": 64,
        "model.max_size": 96,
        "model.n_layer": 10,
        "model.base_channels": 16,
        "model.channels": 16,
        "model.head_groups": 4,
        "model.head_depth": 1,
        "ema": 0.9,
        "frozen": ("extractor/conv1",),
        "similar_shapes": True,
        "layer_lr": {"extractor/res2": 0.1},
    },
    "yolo_v3_small": {
        "model.insize": 64,
        "model.base_channels": 4,
        "model.blocks": (1, 1, 1, 1, 1),
        "sizes": (32, 64),
        "mosaic": 1,
        "mix_up": 0.5,
        "plain_epochs": 1,
    },
    "darknet": {"model.cfg": TINY_CFG, "model.size": (32, 48), "model.resize": "letterbox"},
    "faster_rcnn_fpn_resnet50": {
        "model.n_layer": 10,
        "model.base_channels": 8,
        "model.channels": 16,
        "model.head_width": 16,
        "model.n_proposal": 20,
        "model.min_size": 64,
        "model.max_size": 96,
        "model.norm": "batch",
        "regions": 16,
    },
    "mask_rcnn_fpn_resnet50": {
        "copy_paste": 1,
        "mosaic": 0.5,
        "mix_up": 0.5,
        "jitter": 0.1,
        "crop": (0.5, 1),
        "plain_epochs": 0,
        "model.n_layer": 10,
        "model.base_channels": 8,
        "model.channels": 16,
        "model.head_width": 16,
        "model.n_proposal": 20,
        "model.min_size": 64,
        "model.max_size": 96,
        "model.norm": "batch",
        "head.depth": 1,
        "head.channels": 8,
        "regions": 16,
    },
    "fcis_resnet101": {
        "copy_paste": 1,
        "plain_epochs": 0,
        "scales": (0.75, 1),
        "model.n_layer": 10,
        "model.base_channels": 4,
        "model.rpn_channels": 8,
        "model.mid_channels": 8,
        "model.min_size": 64,
        "model.max_size": 96,
        "model.anchor_scales": (1, 2),
        "model.roi_size": 7,
        "model.group_size": 3,
    },
    "keypoint_rcnn_fpn_resnet50": {
        "mosaic": 1,
        "mix_up": 0.5,
        "jitter": 0.1,
        "crop": (0.5, 1),
        "plain_epochs": 0,
        "model.n_layer": 10,
        "model.base_channels": 8,
        "model.channels": 16,
        "model.head_width": 16,
        "model.n_proposal": 20,
        "model.min_size": 64,
        "model.max_size": 96,
        "model.norm": "batch",
        "head.depth": 1,
        "head.channels": 8,
        "head.roi_size": 7,
        "regions": 16,
    },
    "faster_rcnn_vgg16": {
        "scales": (0.75, 1),
        "model.min_size": 64,
        "model.max_size": 96,
        "model.anchor_scales": (1, 2),
        "model.base_channels": 4,
        "model.rpn_channels": 8,
        "model.fc_channels": 16,
    },
    "light_head_rcnn_resnet101": {
        "model.min_size": 64,
        "model.max_size": 96,
        "model.anchor_scales": (1, 2),
        "model.n_layer": 10,
        "model.base_channels": 4,
        "model.rpn_channels": 8,
        "model.mid_channels": 8,
        "model.fc_channels": 16,
        "hard_regions": 16,
    },
    "ssd300": {
        "model.insize": 64,
        "model.base_channels": 4,
        "model.extras": ("halve",),
        "model.sizes": (10, 24, 44, 60),
        "model.aspect_ratios": ((2,), (2,), (2,)),
        "model.steps": None,
        "lr": 1e-4,
        "sampling": "repeat",
    },
    "cifar_resnet20": {
        "lr": 0.01,
        "accumulate": 2,
        "layer_lr": {"stage1": 0.5},
        "sampling": "balanced",
        "batch_scales": (0.75, 1.25),
        "mix_up": 0.2,
        "cut_mix": 1.0,
        "plain_epochs": 1,
    },
    "segnet": {"model.channels": 4, "model.insize": (32, 48), "lr": 0.01, "batch_scales": (0.5, 1)},
    "pspnet_resnet50": {"model.n_layer": 10, "model.base_channels": 4, "model.window": (33, 41)},
    "deeplab_v3_resnet50": {"model.backbone": "resnet18", "model.width": 0.1, "model.short": 32},
    "fcn_resnet50": {"model.backbone": "resnet18", "model.width": 0.1, "model.short": 32},
    "lraspp_mobilenet_v3_large": {"model.width": 0.1, "model.short": 32},
    "deeplab_v3plus_xception65": {"model.width": 0.05, "model.middle_blocks": 1, "model.window": (33, 41)},
    "espnet": {"model.insize": (32, 40), "model.depths": (1, 1), "model.channels": (4, 5, 5)},
}
COMMON = {"epochs": 2, "batch_size": 2, "processes": 0}


@pytest.fixture
def tiny(tmp_path):
    """The recipe of a name, tiny and with data of its task."""

    def make(name):
        recipe = RECIPES[name]
        data = DRAWN[recipe.task](tmp_path)
        return with_settings(recipe, {"data": data, "pretrained": None, **COMMON, **TINY[name]})

    return make


class Killed(BaseException):
    """What ends a process, for this test."""


def test_every_class_of_recipes_is_tried_here():
    assert {type(recipe) for recipe in RECIPES.values()} == {type(RECIPES[name]) for name in TINY}


@pytest.fixture
def without_plots(monkeypatch):
    """Plots and the report take longer than a tiny training, and have tests of their own."""
    monkeypatch.setattr(PlotReport, "__call__", lambda self, trainer: None)
    monkeypatch.setattr(run_report, "write_run_report", lambda folder: None)


@pytest.mark.usefixtures("without_plots")
@pytest.mark.parametrize("name", TINY)
def test_a_killed_training_goes_on_to_the_same_bits(name, tiny, tmp_path, monkeypatch):
    recipe = tiny(name)
    Training(recipe, None, tmp_path / "whole").trainer.run()
    update = StandardUpdater.update

    def killed(self):
        if self.iteration == 3:
            raise Killed
        update(self)

    started = Training(recipe, None, tmp_path / "parts")
    with monkeypatch.context() as patch:
        patch.setattr(StandardUpdater, "update", killed)
        with pytest.raises(Killed):
            started.trainer.run()
    again = Training(recipe, None, tmp_path / "parts", resume=True)
    again.trainer.run()
    assert again.trainer.updater.iteration == 4
    one, other = (load_model(tmp_path / out / "best.safetensors").state_arrays() for out in ("whole", "parts"))
    for path in one:
        np.testing.assert_array_equal(one[path], other[path], err_msg=path)
    for image in ("first_batch.jpg", "predictions.jpg"):
        assert (tmp_path / "whole/images" / image).is_file()
    losses, resumed = (_validation_losses(tmp_path / out) for out in ("whole", "parts"))
    assert losses == resumed != []
    assert_report_has_all(tmp_path / "whole", recipe)
    reach = tmp_path / "whole/anchors.json"
    assert reach.is_file() == (recipe.task not in ("classification", "segmentation") and name != "fcos_resnet18")
    if reach.is_file():
        assert_anchors_are_found(json.loads(reach.read_text()), recipe)


def assert_report_has_all(folder, recipe):
    """Scores by class, losses by component of training and validation, images, anchors, and how to use the model."""
    page = write_run_report(folder).read_text()
    assert page.count("<h3>By class</h3>") == 1
    for name in recipe.splits().label_names:
        assert f"<td>{name}</td>" in page
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    losses = {key for row in rows for key in row if key.startswith("main/") and "loss" in key}
    assert "main/loss" in losses
    # a detector's loss has at least two components; a batch of validation without an object may lack one
    assert len(losses) > 2 or recipe.task in ("classification", "segmentation")
    for key in losses:
        assert any(f"validation_loss/{key}" in row for row in rows), key
        assert f"<title>{key.removeprefix('main/')}" in page
    for words in (
        f"best {recipe.best}",
        "the first batch, with data augmentation",
        "predictions on images of the validation set",
    ):
        assert words in page
    assert ("<h2>Anchors</h2>" in page) == (folder / "anchors.json").is_file()
    assert "last sign of life" in page
    assert "cvzoo predict IMAGE.jpg --model best.safetensors --out FOLDER" in page


@pytest.mark.slow
@pytest.mark.usefixtures("without_plots")
@pytest.mark.parametrize("name", TINY)
def test_a_compiled_training_differs_in_last_bits_only_and_mixed_precision_is_finite(name, tiny, tmp_path):
    recipe = dataclasses.replace(tiny(name), epochs=1)
    found = {}
    for key, dtype in (("plain", "float32"), ("compiled", "float32"), ("mixed", "mixed_bf16")):
        with using_config("dtype", dtype):
            Training(recipe, None, tmp_path / key, compile=key == "compiled").trainer.run()
        found[key] = load_model(tmp_path / key / "best.safetensors").state_arrays()
    for path, array in found["plain"].items():
        np.testing.assert_allclose(found["compiled"][path], array, rtol=1e-4, atol=5e-6, err_msg=path)
        assert np.isfinite(found["mixed"][path]).all(), path


@pytest.mark.parametrize("name", TINY)
def test_the_examples_can_be_sent_to_workers_without_the_network(name, tiny):
    """A compiled one is not pickled, and others take long."""
    recipe = tiny(name)
    splits = recipe.splits()
    recipe = recipe.with_splits(splits)
    model = recipe.build_model(splits.label_names)
    recipe.build_loss(model, splits).compile(train=True)
    examples = pickle.loads(pickle.dumps(recipe.examples(splits.train, model)))
    assert len(examples) == len(splits.train)


def assert_anchors_are_found(reach, recipe):
    """Of all boxes, and what is suggested are settings of the recipe, under which more boxes are reached."""
    assert reach["n_box"] >= 3  # random crops may leave one out
    assert reach["mean_iou"] > 0
    settings = reach["suggested"]
    is_fitted = not isinstance(recipe, SSDRecipe | YOLOv3Recipe)  # fewer boxes than YOLOv3 has anchors
    assert bool(settings) == (reach["reached"] < 0.9 and is_fitted)
    better = with_settings(recipe, settings)
    splits = better.splits()
    model = better.with_splits(splits).build_model(splits.label_names)
    boxed = better.boxed_examples(splits.train, model)
    after = anchor_reach(boxed, better.anchors(model), label_names=splits.label_names)
    assert after["reached"] >= reach["reached"]


def _validation_losses(folder):
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [row["validation_loss/main/loss"] for row in rows if "validation_loss/main/loss" in row]


@pytest.mark.usefixtures("without_plots")
@pytest.mark.parametrize(("iterations", "seconds"), [(1, 1e9), (1000, -1.0)])
def test_predictions_are_drawn_long_before_the_end_of_a_long_epoch(tiny, tmp_path, monkeypatch, iterations, seconds):
    monkeypatch.setattr(training, "_EARLY", iterations)
    monkeypatch.setattr(training, "_EARLY_SECONDS", seconds)

    def look(trainer):
        seen.append((tmp_path / "run/images/predictions.jpg").is_file())

    seen = []
    started = Training(tiny("segnet"), None, tmp_path / "run")
    started.trainer.extend(look, trigger=(1, "iteration"), priority=-600)
    started.trainer.run()
    assert seen[0]


def test_a_training_that_cannot_be_built_leaves_no_run(tiny, tmp_path):
    recipe = dataclasses.replace(tiny("darknet"), pretrained=str(tmp_path / "none.safetensors"))
    for _ in range(2):  # the second is not told that the folder has a run
        with pytest.raises(FileError, match="no such file"):
            Training(recipe, None, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", TINY)
def test_a_recipe_in_toml_is_the_same_recipe(name, tiny, tmp_path):
    recipe = tiny(name)
    (tmp_path / "recipe.toml").write_text(recipe_to_toml(name, recipe))
    assert read_recipe(tmp_path / "recipe.toml") == (name, recipe)


@pytest.mark.parametrize("name", TINY)
def test_every_setting_says_what_it_is_and_where_it_stands(name):
    for field in dataclasses.fields(RECIPES[name]):
        assert field.metadata.get("help"), field.name
        assert field.metadata.get("group"), field.name
