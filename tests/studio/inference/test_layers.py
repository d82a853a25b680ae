"""Layers of a network: what they read, their weights, and their outputs."""

import numpy as np
import pytest

from cvzoo.config import set_seed
from cvzoo.errors.exceptions import NoSuchKeyError, UnsupportedError
from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.links.model.layer_costs import layer_costs
from cvzoo.studio.inference.layers import activations_of, layers_of, statistics, tiles, weights_of

IMG = np.random.default_rng(0).uniform(0, 255, (3, 32, 32)).astype(np.float32)


@pytest.fixture(scope="module")
def model():
    set_seed(0)
    return CIFARResNet(20, label_names=("cat", "dog"))


def infer(model):
    return lambda: model.predict([IMG])


def test_layers_are_those_of_cvzoo_info(model):
    found = layers_of(model, infer(model))
    costs = [each for each in layer_costs(model, infer(model)) if each.name]
    assert [(each["name"], each["shape"], each["n_multiply_add"]) for each in found] == [
        (each.name, each.shape, each.n_multiply_add) for each in costs
    ]
    assert sum(each["n_parameter"] for each in found) == model.count_params()


def test_a_layer_reads_those_before_it_and_by_way_of_sums_those_of_shortcuts(model):
    reads = {each["name"]: each["inputs"] for each in layers_of(model, infer(model))}
    assert reads["conv1/conv"] == [""]
    assert reads["conv1/bn"] == ["conv1/conv"]
    assert reads["stage1/1/conv1/conv"] == ["conv1/bn", "stage1/0/conv2/bn"]


def test_outputs_are_those_of_the_layer(model):
    tree, picture = activations_of(model, "conv1/conv", infer(model))
    out = model.conv1.conv(model.prepare(IMG)[np.newaxis]).array
    assert tree["shape"] == [1, 16, 32, 32]
    assert (tree["n_shown"], tree["n_map"]) == (16, 16)
    np.testing.assert_allclose([tree["min"], tree["max"], tree["mean"]], [out.min(), out.max(), out.mean()], rtol=1e-4)
    assert sum(tree["counts"]) == out.size
    channel = out[0, 0]
    expected = np.rint(255 * (channel - channel.min()) / (channel.max() - channel.min()))
    np.testing.assert_allclose(picture[:32, :32], expected, atol=1)


def test_outputs_without_positions_are_shown_in_rows(model):
    name = layers_of(model, infer(model))[-1]["name"]
    tree, picture = activations_of(model, name, infer(model))
    assert tree["shape"] == [1, 2]
    assert picture.size > 0


def test_the_model_predicts_the_same_afterwards(model):
    before = model.predict([IMG])[0]
    activations_of(model, "conv1/bn", infer(model))
    layers_of(model, infer(model))
    np.testing.assert_array_equal(model.predict([IMG])[0], before)


def test_weights_are_those_of_the_layer(model):
    (weight,) = weights_of(model, "conv1/conv")
    W = model.conv1.conv.W.array
    assert (weight["name"], weight["shape"], weight["size"]) == ("W", [16, 3, 3, 3], W.size)
    np.testing.assert_allclose([weight["min"], weight["std"]], [W.min(), W.std()], rtol=1e-4)


@pytest.mark.parametrize("name", ["", "conv", "conv1/conv/W", "../conv1", "conv1/conv/"])
def test_a_layer_that_there_is_not_is_refused(model, name):
    with pytest.raises(NoSuchKeyError, match="no layer"):
        weights_of(model, name)
    with pytest.raises(NoSuchKeyError, match="no layer"):
        activations_of(model, name, infer(model))


def test_a_layer_that_is_not_called_has_no_outputs(model):
    with pytest.raises(UnsupportedError, match="no output that can be shown"):
        activations_of(model, "conv1/conv", lambda: None)


def test_values_that_are_not_finite_are_counted_apart():
    tree = statistics(np.array([0.0, 1.0, np.nan, np.inf, 0.0, 2.0]))
    assert (tree["n_nan"], tree["n_zero"], tree["min"], tree["max"], tree["mean"]) == (2, 2, 0.0, 2.0, 0.75)
    assert (tree["counts"][0], tree["counts"][20], tree["counts"][39], sum(tree["counts"])) == (2, 1, 1, 4)
    assert statistics(np.full(3, np.nan))["mean"] is None
    assert statistics(np.zeros(0))["counts"] == [0] * 40


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ((4, 32, 32), (66, 66)),
        ((1, 1, 1), (24, 24)),
        ((5, 200, 100), (67 * 2 + 2, 34 * 3 + 4)),
        ((2, 24, 12), (24, 26)),
    ],
)
def test_maps_are_side_by_side(shape, size):
    picture = tiles(np.random.default_rng(0).normal(size=shape))
    assert picture.shape == size
    assert picture.dtype == np.uint8


def test_a_map_of_one_value_or_of_none_that_is_finite_is_black():
    maps = np.stack([np.full((24, 24), 7.0), np.full((24, 24), np.nan)])
    picture = tiles(maps)
    assert not picture[:, :24].any()
    assert not picture[:, 26:].any()
