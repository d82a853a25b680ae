"""DenseNets: torchvision's names, shapes and numbers."""

import re

import numpy as np
import pytest
from by_our_names import by_our_names
from few_steps import losses_of_steps

import cvzoo.functions as F
from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.densenet.densenet import DEPTHS, DenseNet
from cvzoo.links.model.densenet.weights import NAMES, densenet_place
from cvzoo.optimizers.momentum_sgd import MomentumSGD


def test_each_layer_adds_its_channels_and_transitions_halve():
    model = DenseNet(13, 3, growth=4, stem_channels=8)
    shapes = {name: h.shape[1:] for name, h in model.stages(np.zeros((1, 3, 64, 96), np.float32))}
    assert shapes["conv1"] == (8, 32, 48)
    assert shapes["block1"] == (12, 16, 24)
    assert shapes["transition1"] == (6, 8, 12)
    assert shapes["transition2"] == (5, 4, 6)
    assert shapes["transition3"] == (4, 2, 3)  # the half of 9
    assert shapes["block4"] == (8, 2, 3)
    assert tuple(shapes) == model.layer_names


def test_another_depth_is_refused():
    with pytest.raises(ValueRangeError, match="n_layer"):
        DenseNet(122)


@pytest.mark.parametrize("n_layer", [n for n in DEPTHS if n != 13])
def test_names_and_shapes_are_torchvisions(shared, seeds, n_layer):
    named = by_our_names(seeds.empty_network(shared, f"densenet{n_layer}"), NAMES)
    wanted = {path: np.shape(array) for path, array in DenseNet(n_layer).state_arrays().items()}
    assert {path: array.shape for path, array in named.items()} == wanted


def test_names_of_old_files_are_the_same(shared, seeds):
    new = seeds.empty_network(shared, "densenet121")
    new = {name: array for name, array in new.items() if not name.endswith("num_batches_tracked")}
    old = {re.sub(r"(denselayer\d+\.(?:norm|conv))([12])\.", r"\1.\2.", name): array for name, array in new.items()}
    assert "features.denseblock1.denselayer1.norm.1.weight" in old
    assert by_our_names(old, NAMES).keys() == by_our_names(new, NAMES).keys()
    assert densenet_place("features.denseblock1.denselayer1.norm.3") is None


def test_training_steps_lower_the_loss():
    set_seed(0)
    model = DenseNet(13, 3, growth=8, stem_channels=8)
    x = np.random.default_rng(0).standard_normal((4, 3, 64, 64), "float32")
    t = np.array([0, 1, 2, 0], np.int32)
    losses = losses_of_steps(lambda: F.softmax_cross_entropy(model(x), t), MomentumSGD(lr=0.05).setup(model), 6)
    assert losses[-1] < 0.8 * losses[0]


@pytest.mark.slow
def test_the_scores_are_torchvisions(shared, seeds):
    arrays = seeds.seeded_network(shared, "densenet121")
    model = DenseNet(121)
    assert model.load_arrays(by_our_names(arrays, NAMES)).is_clean
    seeds.assert_photo_scores_equal(model, seeds.golden(shared, "classification_no_preprocess", "densenet121"))
