"""The recipe of darknet's cfg files: what becomes of the cfg, its heads and its weights."""

import types

import numpy as np
import pytest

from cvzoo.errors.exceptions import ConfigError, FileError, FileFormatError, UnsupportedError
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.preparation.stretch import Stretch
from cvzoo.training.recipes.listing import RECIPES
from cvzoo.training.recipes.settings import with_settings

CFG = """[net]
width=64
height=64
channels=3
[convolutional]
filters=8
size=3
stride=8
pad=1
batch_normalize=1
activation=leaky
[convolutional]
filters=21
size=1
activation=linear
[yolo]
mask=1,2
anchors=5,6, 12,18, 37,49
classes=2
num=3
"""
NAMES = ("a", "b", "c")


def recipe(**values):
    given = {name.replace("model_", "model."): value for name, value in values.items()}
    return with_settings(RECIPES["darknet"], {"model.cfg": CFG.replace("filters=21", "filters=14"), **given})


def weights_file(path, n_float):
    path.write_bytes(np.array([0, 2, 5, 0, 0], "<i4").tobytes() + np.arange(n_float, dtype="<f4").tobytes())
    return str(path)


N_FIRST = 4 * 8 + 8 * 27  # the values of the first convolution, with its normalization


def test_heads_become_those_of_the_data():
    model = recipe().build_model(NAMES)
    assert isinstance(model, DarknetDetector)
    assert (model.n_fg_class, model.label_names, model.heads[0].anchors) == (3, NAMES, ((18, 12), (49, 37)))
    assert [y.shape for y in model(np.zeros((1, 3, 64, 64), np.float32))] == [(1, 16, 8, 8)]
    assert isinstance(model.preparation, Stretch)


def test_anchors_and_size_replace_those_of_the_cfg():
    changed = recipe(model_anchors="[[1,2],[3,4.5],[5,6]]").with_size(32)
    model = changed.build_model(NAMES)
    assert model.heads[0].anchors == ((3, 4.5), (5, 6))
    assert model.network.input_size == (32, 32)
    with pytest.raises(FileFormatError, match=r"line 18, \[yolo\]: the cfg has 3 anchors, 1 are given"):
        recipe(model_anchors="[[1,2]]").build_model(NAMES)


def test_anchors_that_fit_the_boxes_are_as_many_as_the_cfg_lists():
    side = np.array([[8, 8], [8, 9], [30, 20], [50, 50]], np.float32)
    found = recipe().anchor_settings(np.concatenate([side * 0, side], axis=1))
    assert len(with_settings(recipe(), found).build_model(NAMES).heads[0].anchors) == 2
    assert recipe().anchor_settings(np.array([[0, 0, 8, 8]], np.float32)) == {}


def test_weights_of_other_classes_are_taken_but_for_the_heads(tmp_path):
    path = weights_file(tmp_path / "two.weights", N_FIRST + 14 * (8 + 1))
    with pytest.warns(UserWarning, match="5 arrays were loaded, 2 initialized anew: network/layer1/conv/W"):
        model = recipe(pretrained=path).build_model(NAMES)
    np.testing.assert_array_equal(model.network.layer0.bn.beta.array, np.arange(8))
    assert not np.array_equal(model.network.layer1.conv.b.array, np.arange(16))


def test_only_heads_of_random_weights_begin_with_few_objects(tmp_path):
    bias = recipe(prior=0.02).build_model(NAMES).network.layer1.conv.b.array.reshape(2, 8)
    np.testing.assert_allclose(1 / (1 + np.exp(-bias[:, 4])), 0.02, rtol=1e-5)
    assert not np.delete(bias, 4, axis=1).any()
    path = weights_file(tmp_path / "three.weights", N_FIRST + 16 * (8 + 1))
    bias = recipe(prior=0.02, pretrained=path).build_model(NAMES).network.layer1.conv.b.array
    np.testing.assert_array_equal(bias, N_FIRST + np.arange(16))


def test_weights_of_the_same_classes_are_taken_whole(tmp_path, recwarn):
    path = weights_file(tmp_path / "three.weights", N_FIRST + 16 * (8 + 1))
    model = recipe(pretrained=path).build_model(NAMES)
    np.testing.assert_array_equal(model.network.layer1.conv.b.array, N_FIRST + np.arange(16))
    assert not recwarn.list


def test_weights_of_the_first_layers_are_taken(tmp_path):
    path = weights_file(tmp_path / "first.conv.1", N_FIRST)
    with pytest.warns(UserWarning, match="the first 1 of 3 layers were loaded"):
        model = recipe(pretrained=path).build_model(NAMES)
    np.testing.assert_array_equal(model.network.layer0.bn.beta.array, np.arange(8))


def test_yolo_v3_begins_with_few_objects():
    small = {"model.insize": 32, "model.base_channels": 4, "model.blocks": (1, 1, 1, 1, 1)}
    model = with_settings(RECIPES["yolo_v3_small"], small).build_model(NAMES)
    for branch in (model.branch32, model.branch16, model.branch8):
        np.testing.assert_allclose(1 / (1 + np.exp(-branch.out.b.array[4::8])), 0.01, rtol=1e-5)


@pytest.mark.parametrize(("n_float", "words"), [(N_FIRST + 9, "ends inside of layer 1"), (N_FIRST + 4000, "left over")])
def test_weights_of_another_network_are_refused(tmp_path, n_float, words):
    path = weights_file(tmp_path / "odd.weights", n_float)
    with pytest.raises(FileFormatError, match=words):
        recipe(pretrained=path).build_model(NAMES)


def test_a_run_keeps_the_text_of_the_cfg(tmp_path):
    path = tmp_path / "net.cfg"
    path.write_text(CFG)
    kept = recipe(model_cfg=str(path)).with_splits(types.SimpleNamespace())
    path.unlink()
    assert kept.model.cfg == CFG
    assert kept.with_splits(types.SimpleNamespace()) == kept


def test_a_recipe_without_a_cfg_says_what_is_missing():
    with pytest.raises(ConfigError, match="names no network"):
        RECIPES["darknet"].build_model(NAMES)
    with pytest.raises(FileError, match=r"absent\.cfg: no such file"):
        recipe(model_cfg="absent.cfg").build_model(NAMES)


def test_heads_that_the_loss_does_not_know_are_refused():
    changed = recipe(model_cfg=CFG + "new_coords=1\n")
    with pytest.raises(UnsupportedError, match="new_coords=1"):
        changed.build_loss(changed.build_model(NAMES), types.SimpleNamespace())


def test_a_head_without_a_convolution_before_it_is_named():
    cfg = CFG.replace("[yolo]", "[dropout]\nprobability=.5\n[yolo]")
    with pytest.raises(FileFormatError, match=r"\[yolo\]: the layer before a head must be \[convolutional\]"):
        recipe(model_cfg=cfg).build_model(NAMES)


def test_options_that_the_cfg_does_not_name_are_added():
    cfg = CFG.replace("classes=2\n", "").replace("filters=21\n", "")
    assert recipe(model_cfg=cfg).build_model(NAMES).n_fg_class == 3


def test_images_are_stretched_as_in_inference():
    built = recipe(augment=False)
    model = built.build_model(NAMES)
    img = np.random.default_rng(0).integers(0, 256, (3, 40, 80)).astype(np.float32)
    bbox, label = np.array([[10, 20, 30, 60]], np.float32), np.array([1], np.int32)
    transform = built.examples(_Examples(img, bbox, label), model)
    x, moved, _, _ = transform[0]
    np.testing.assert_allclose(x, model.preparation(img), atol=1e-6)
    np.testing.assert_allclose(moved, [[16, 16, 48, 48]])


class _Examples:
    """A data set of one example."""

    keys = ("img", "bbox", "label", "ignored")

    def __init__(self, img, bbox, label):
        self.example = (img, bbox, label, np.zeros(len(bbox), bool))

    def __len__(self):
        return 1

    def get_example_by_keys(self, i, indices):
        return tuple(self.example[k] for k in indices)

    def __getitem__(self, i):
        return self.example
