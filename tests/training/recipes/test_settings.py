"""Settings of a recipe by name, as command lines and files have them."""

import pytest

from cvzoo.errors import ConfigError, FileFormatError, MissingExtraError, ValueRangeError
from cvzoo.training.recipes.config_file import read_recipe
from cvzoo.training.recipes.listing import RECIPES, named_recipe
from cvzoo.training.recipes.settings import settings_of_words, with_settings

RECIPE = RECIPES["retinanet_resnet18_small"]


def changed(*words):
    return with_settings(RECIPE, settings_of_words(words))


@pytest.mark.parametrize(
    ("word", "read", "expected"),
    [
        ("lr=.5", lambda r: r.lr, 0.5),
        ("lr=1e-4", lambda r: r.lr, 1e-4),
        ("epochs=3", lambda r: r.epochs, 3),
        ("scales=0.5,1", lambda r: r.scales, (0.5, 1)),
        ("scales=[0.5, 1]", lambda r: r.scales, (0.5, 1)),
        ("clip=none", lambda r: r.clip, None),
        ("optimizer=sgd", lambda r: r.optimizer, "sgd"),
        ("pretrained=7", lambda r: r.pretrained, "7"),
        ("model.min_size=96", lambda r: r.model.min_size, 96),
        ("model.anchor_rounded=True", lambda r: r.model.anchor_rounded, True),
        ("layer_lr.extractor=0.1", lambda r: r.layer_lr, {"extractor": 0.1}),
        ('layer_lr={"extractor": 0.1}', lambda r: r.layer_lr, {"extractor": 0.1}),
        ("frozen=extractor/conv1,fpn", lambda r: r.frozen, ("extractor/conv1", "fpn")),
        ("frozen=fpn", lambda r: r.frozen, ("fpn",)),
        ("processes=auto", lambda r: r.processes, "auto"),
        ("processes=0", lambda r: r.processes, 0),
        ("data=coco:a.json,b.json", lambda r: r.metric, "coco"),
        ("pretrained=imagenet", lambda r: r.model.norm, "frozen"),
    ],
)
def test_a_text_is_read_as_the_settings_type(word, read, expected):
    assert read(changed(word)) == expected


def test_what_is_named_prevails_over_what_follows():
    recipe = changed("model.norm=batch", "metric=voc", "data=coco:a.json,b.json", "pretrained=imagenet")
    assert (recipe.model.norm, recipe.metric) == ("batch", "voc")


@pytest.mark.parametrize(
    ("word", "error", "said"),
    [
        ("learn_rate=3", ConfigError, "no setting 'learn_rate'"),
        ("momentun=0.9", ConfigError, "did you mean momentum?"),
        ("min_size=96", ConfigError, "did you mean model.min_size?"),
        ("lr=-1", ValueRangeError, "lr is invalid: -1"),
        ("epochs=2.5", ValueRangeError, "a whole number, at least 1"),
        ("metric=foo", ValueRangeError, "'voc' or 'coco'"),
        ("epochs", ConfigError, "KEY=VALUE"),
        ("layer_lr.fpn=fast", ValueRangeError, "layer_lr is invalid"),
    ],
)
def test_what_is_unknown_or_out_of_range_is_one_clear_error(word, error, said):
    with pytest.raises(error) as caught:
        changed(word)
    assert said in str(caught.value)


def test_a_setting_by_its_usual_long_name_is_answered_with_its_own():
    with pytest.raises(ConfigError, match="did you mean lr"):
        changed("learning_rate=0.1")


def test_an_unknown_recipe_has_a_nearest_one():
    with pytest.raises(ConfigError, match="did you mean ssd300"):
        named_recipe("ssd30")


def test_a_file_has_what_differs(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('recipe = "ssd300"\nepochs = 3\nclip = "none"\n[model]\nlimit = 10\n')
    name, recipe = read_recipe(path)
    assert (name, recipe.epochs, recipe.clip, recipe.model.limit) == ("ssd300", 3, None, 10)
    assert recipe.lr == RECIPES["ssd300"].lr


@pytest.mark.parametrize(
    ("name", "text", "error", "said"),
    [
        ("a.toml", "epochs = 3", ConfigError, "names no recipe"),
        ("a.toml", "epochs = ", FileFormatError, "no TOML"),
        ("a.toml", 'recipe = "ssd300"\nepoch = 3', ConfigError, "did you mean epochs"),
        ("a.json", "{}", ConfigError, ".toml, .yaml or .yml"),
    ],
)
def test_a_file_that_cannot_be_is_told(tmp_path, name, text, error, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(error) as caught:
        read_recipe(tmp_path / name)
    assert said in str(caught.value)


def test_yaml_without_its_package_names_the_command(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    (tmp_path / "a.yaml").write_text("recipe: ssd300")
    with pytest.raises(MissingExtraError, match="PyYAML") as caught:
        read_recipe(tmp_path / "a.yaml")
    assert "pip install pyyaml" in str(caught.value)
