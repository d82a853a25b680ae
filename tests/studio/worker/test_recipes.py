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
