"""AlexNet: torchvision's names, shapes and numbers."""

import numpy as np
import pytest
from by_our_names import by_our_names
from few_steps import losses_of_steps

import cvzoo.functions as F
from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.links.model.alexnet.alexnet import AlexNet
from cvzoo.links.model.alexnet.weights import NAMES
from cvzoo.optimizers.momentum_sgd import MomentumSGD


def small(pretrained_model=None):
    return AlexNet(5, pretrained_model, width=1 / 16, fc_channels=16, dropout=0)


def theirs(model):
    """The model's arrays as torchvision names them."""
    modules = {ours: name for name, ours in NAMES["torchvision"].modules.items()}
    return {
        f"{modules[path[:-2]]}.{'weight' if path[-1] == 'W' else 'bias'}": np.array(array)
        for path, array in model.state_arrays().items()
    }


def test_stages_have_the_sizes_of_the_paper():
    model = small()
    sizes = {name: h.shape for name, h in model.stages(np.zeros((1, 3, 224, 224), np.float32))}
    assert sizes["conv1"] == (1, 4, 55, 55)
    assert sizes["pool5"] == (1, 16, 6, 6)
    assert sizes["fc8"] == (1, 5)
    assert tuple(sizes) == model.layer_names


def test_a_file_of_torchvision_is_taken_over(tmp_path):
    model = small()
    np.savez(tmp_path / "model.npz", **theirs(model))
    again = small(tmp_path / "model.npz")
    assert again.load_report.is_clean
    for name, array in model.state_arrays().items():
        np.testing.assert_array_equal(again.state_arrays()[name], array, err_msg=name)
    np.savez(tmp_path / "more.npz", **theirs(model), extra=np.zeros(1))
    with pytest.raises(WeightsMismatchError, match="extra"):
        small(tmp_path / "more.npz")


def test_a_training_step_lowers_the_loss():
    set_seed(0)
    model = small()
    x = np.random.default_rng(0).standard_normal((4, 3, 64, 64), "float32")
    t = np.array([0, 1, 2, 0], np.int32)
    losses = losses_of_steps(lambda: F.softmax_cross_entropy(model(x), t), MomentumSGD(lr=0.02).setup(model), 8)
    assert losses[-1] < 0.9 * losses[0]


@pytest.mark.slow
def test_the_scores_are_torchvisions(shared, seeds):
    arrays = seeds.seeded_network(shared, "alexnet")
    model = AlexNet()
    assert model.load_arrays(by_our_names(arrays, NAMES)).is_clean
    seeds.assert_photo_scores_equal(model, seeds.golden(shared, "classification_no_preprocess", "alexnet"))
