"""What the server asks about recipes."""

import os

import pytest

from cvzoo.studio.worker.recipes import checked, listing
from cvzoo.training.recipes.listing import RECIPES
from cvzoo.training.recipes.settings import with_settings


@pytest.fixture(scope="module")
def recipes():
    return {recipe["name"]: recipe for recipe in listing()["recipes"]}


def test_every_recipe_is_listed_with_its_fields(recipes):
    assert set(recipes) == set(RECIPES)
    assert all({"lr", "epochs"} <= {field["name"] for field in recipe["fields"]} for recipe in recipes.values())
    assert any(field["name"].startswith("model.") for field in recipes["ssd300"]["fields"])


@pytest.mark.parametrize("name", ["ssd300", "yolo_v3_small", "cifar_resnet20", "segnet"])
def test_a_default_is_spelled_as_the_command_line_reads_it(recipes, name):
    fields = {field["name"]: field["default"] for field in recipes[name]["fields"] if "." not in field["name"]}
    del fields["pretrained"], fields["layer_lr"]
    assert with_settings(RECIPES[name], fields) == RECIPES[name]


def test_what_is_wrong_is_found(tmp_path):
    data = "voc:" + os.fspath(tmp_path)
    assert set(checked("none", data, {})["fields"]) == {"recipe"}
    assert set(checked("ssd300", data, {"lr": "-1", "nonsense": "1"})["fields"]) == {"lr", "nonsense"}
    assert set(checked("ssd300", data, {})["fields"]) == {"data"}
    assert set(checked("ssd300", "", {})["fields"]) == {"data"}


@pytest.mark.parametrize(("key", "value"), [("scales", "[]"), ("model.max_size", "10")])
def test_a_value_that_does_not_fit_the_others_is_named(key, value):
    assert set(checked("retinanet_resnet18_small", "voc:x", {key: value, "lr": "0.1"})["fields"]) == {key}


def test_values_that_fit_each_other_need_not_fit_the_usual_ones(tmp_path, write_coco):
    data = f"coco:{write_coco(tmp_path / 'shapes')}"
    sizes = {"model.min_size": "2000", "model.max_size": "3000"}
    assert checked("retinanet_resnet18_small", data, sizes)["fields"] == {}
    assert set(checked("retinanet_resnet18_small", data, {"model.min_size": "2000"})["fields"]) == {"model.min_size"}


@pytest.mark.parametrize(
    ("recipe", "key", "value", "words"),
    [
        ("retinanet_resnet18_small", "model.n_layer", "19", "10 or 18 or 34"),
        ("retinanet_resnet18_small", "model.channels", "100000", "does not fit into the memory"),
        ("retinanet_resnet18_small", "pretrained", "/nowhere", "neither a known name nor a file"),
        ("retinanet_resnet18_small", "pretrained", "imagnet", "neither a known name nor a file"),
        ("ssd300", "batch_size", "100000", "at most"),
        ("ssd300", "warmup", "100000", "warm-up is not shorter"),
        ("ssd300", "processes", "250", "at most"),
        ("ssd300", "epochs", "9" * 20, "at most 1000000"),
        ("cifar_resnet20", "epochs", "9" * 20, "at most 1000000"),
    ],
)
def test_what_would_end_the_training_at_its_start_is_found(
    tmp_path, monkeypatch, write_coco, recipe, key, value, words
):
    monkeypatch.setenv("CVZOO_OFFLINE", "1")
    monkeypatch.setenv("CVZOO_HOME", os.fspath(tmp_path / "home"))
    data = f"coco:{write_coco(tmp_path / 'shapes')}"
    fields = checked(recipe, data, {key: value})["fields"]
    assert set(fields) == {"settings" if "." in key else key}
    assert words in next(iter(fields.values()))


def test_weights_that_are_to_be_downloaded_are_no_fault(tmp_path, monkeypatch, write_coco):
    monkeypatch.setenv("CVZOO_OFFLINE", "0")  # as data may be downloaded
    monkeypatch.setenv("CVZOO_HOME", os.fspath(tmp_path / "home"))
    data = f"coco:{write_coco(tmp_path / 'shapes')}"
    assert checked("retinanet_resnet18_small", data, {"pretrained": "imagenet"})["fields"] == {}
    assert os.environ["CVZOO_OFFLINE"] == "0"
