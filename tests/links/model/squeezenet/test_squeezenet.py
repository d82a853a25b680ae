"""SqueezeNets: torchvision's names, shapes and numbers."""

import numpy as np
import pytest
from by_our_names import by_our_names
from few_steps import losses_of_steps

import cvzoo.functions as F
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.squeezenet.squeezenet import SqueezeNet, stage_names
from cvzoo.links.model.squeezenet.weights import squeezenet_names
from cvzoo.optimizers.momentum_sgd import MomentumSGD


@pytest.mark.parametrize(("version", "before"), [("1.0", "fire4 fire8"), ("1.1", "fire3 fire5")])
def test_poolings_are_where_the_version_has_them(version, before):
    names = SqueezeNet(version, 2, width=1 / 16).layer_names
    assert " ".join(names[i - 1] for i, name in enumerate(names) if name.startswith("pool")).split() == [
        "conv1",
        *before.split(),
        "conv10",
    ]


def test_another_version_is_refused():
    with pytest.raises(ValueRangeError, match=r"version\n.*1\.1"):
        SqueezeNet("2.0")


@pytest.mark.parametrize(("version", "name"), [("1.0", "squeezenet1_0"), ("1.1", "squeezenet1_1")])
def test_names_and_shapes_are_torchvisions(shared, seeds, version, name):
    named = by_our_names(seeds.empty_network(shared, name), squeezenet_names(stage_names(version)))
    wanted = {path: np.shape(array) for path, array in SqueezeNet(version).state_arrays().items()}
    assert {path: array.shape for path, array in named.items()} == wanted


def test_a_training_step_lowers_the_loss():
    set_seed(0)
    model = SqueezeNet("1.1", 3, width=1 / 4, dropout=0)
    x = np.random.default_rng(0).standard_normal((4, 3, 64, 64), "float32")
    t = np.array([0, 1, 2, 0], np.int32)
    losses = losses_of_steps(lambda: F.softmax_cross_entropy(model(x), t), MomentumSGD(lr=0.05).setup(model), 20)
    assert losses[-1] < 0.95 * losses[0]


@pytest.mark.slow
def test_the_scores_are_torchvisions(shared, seeds):
    arrays = seeds.seeded_network(shared, "squeezenet1_0")
    model = SqueezeNet("1.0")
    assert model.load_arrays(by_our_names(arrays, squeezenet_names(stage_names("1.0")))).is_clean
    seeds.assert_photo_scores_equal(model, seeds.golden(shared, "classification_no_preprocess", "squeezenet1_0"))


def test_the_authors_numbers_give_the_stored_scores(shared):
    file = np.load(shared / "weights/squeezenet_v1.0_imagenet/squeezenet_v1.0_decoded.npz")
    parts = {"conv1x1_1": "squeeze", "conv1x1_2": "expand1", "conv3x3_2": "expand3"}
    arrays = {}
    for name in file.files:
        layer, _, leaf = name.rpartition("_")
        fire, _, part = layer.partition("__")
        place = f"{fire}/{parts[part]}" if part else {"conv_final": "conv10"}.get(layer, layer)
        arrays[f"{place}/conv/{leaf.upper() if leaf == 'w' else leaf}"] = file[name]
    model = SqueezeNet("1.0")
    assert model.load_arrays(arrays).is_clean
    expected = np.load(shared / "weights/expected/squeezenet_v1.0.npz")
    bgr = expected["dog_rgb_u8"][:, :, ::-1].astype(np.float32) - np.array([104, 117, 123], np.float32)
    with using_config("train", False), no_backprop_mode():
        y = model(bgr.transpose(2, 0, 1)[None]).array[0]
    # the authors' last convolution, of 1 x 1, has a padding of 1: 13 x 13 places and a border that sees its bias alone
    border = np.maximum(arrays["conv10/conv/b"], 0)
    y = (13 * 13 * y + (15 * 15 - 13 * 13) * border) / (15 * 15)
    np.testing.assert_allclose(y, expected["dog_logits"], atol=1e-4 * np.abs(y).max())
